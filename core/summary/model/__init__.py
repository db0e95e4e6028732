"""A summary written by a model: what it is asked, how it is called, and when its answer is not good enough.

The program keeps what must not be retold (goal, rules, requests, errors, files, commands, links); the model writes the
rest, and only that is taken from its answer. Nothing here knows a provider: a `Caller` does.
"""
