"""PAPERS: trains what `engine.papers` reads, and the transformers of LongEmbed that longsearch is measured beside.

- recurrent embeddings: `eos` (the student), `lora` (adapters on a larger checkpoint), `lora_recipe` (appendix F.2)
- Causal2Vec: `contextual`
- GIRCSE: `generative` (the student), `refine` (its losses)
- LongEmbed: `longer_minilm` (the students), `rotary_start`, `longer_stages`, `longer_commands`

`opening` opens a checkpoint for training under any of these readouts. No shipped model is made by any of this.
"""
