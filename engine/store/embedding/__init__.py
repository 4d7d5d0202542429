"""EMBEDDING, the writer's side: vectors are added passage by passage, from saved states, and read again wider."""
