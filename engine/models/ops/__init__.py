"""The operations of the models, each in plain torch. Faster twins stand beside them and are tested against them."""
