"""What is charged for parts that have no text: images, and reasoning that only the provider can read.

An image is never counted by the length of its base64, which would be hundreds of thousands of tokens. Providers
charge by its size in pixels, from 85 to a few thousand tokens (https://platform.openai.com/docs/guides/images-vision,
https://docs.anthropic.com/en/docs/build-with-claude/vision), after scaling that a log does not record. So every
image has one stated rate: the agent's own, from its `agent.toml`, and where that states none the rate below.
"""

from __future__ import annotations

DEFAULT_IMAGE_TOKENS = 1_600
"""Tokens for one image: what Anthropic's rule, width × height / 750, gives at its largest unscaled size."""

OPAQUE_TOKENS = 0
"""Tokens for encrypted or redacted reasoning: its length says nothing about its cost, and what it does cost is in the
provider's own figure. So the counted figure leaves it out, at 0, and never charges the blob as text."""
