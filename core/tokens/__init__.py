"""How many tokens a text, an image or an item of the view costs: counted here, never fetched from the network."""
