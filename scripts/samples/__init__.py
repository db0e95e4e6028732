"""Sample sessions: invented stories of coding agents, told once and written in each agent's format."""
