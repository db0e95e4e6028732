"""Everything that a person sees: the screens in the terminal, and the commands."""
