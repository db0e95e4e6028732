"""Seamline's engine: what an agent's model sees, and how to cut it. Knows nothing of any user interface."""
