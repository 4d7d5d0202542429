"""How the bundled model is made: data, teacher, losses, loop, and the stages of its training."""
