"""The handoff document that stands for a summarised span: what it holds, how it is written, read back and checked.

`facts` collects what the history proves, `offline` writes the document, `parse` reads it back, and `checking` says
whether a text may be used. Nothing here asks a model or the machine.
"""
