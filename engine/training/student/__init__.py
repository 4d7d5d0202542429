"""The model being trained: how it starts, reads, takes LoRA adapters, steps and is saved."""
