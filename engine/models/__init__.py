"""The families of recurrent models: configurations, weights, layers and operations."""
