"""What a search prints for programs: records, and the hits that `longsearch open-hit` opens."""
