"""How the bundled model is made: data, teacher, losses, loop, and the stages of its training.

    python -m engine.training label CORPUS/pairs-*.jsonl.xz SE_ANSWERS --shards SHARDS     (the teacher's vectors, kept)
    python -m engine.training new --shards SHARDS --out STATIC                              (a static embedder)
    python -m engine.training distil --shards SHARDS --model STATIC --out STAGE1 --minutes M
    python -m engine.training contrast --shards SHARDS --model STAGE1 --out STAGE2 --minutes M --rate 6e-4
    python -m engine.training streams CORPUS/long-documents.jsonl.xz --shards SHARDS --model STAGE2 --out STAGE3 \
        --teacher --minutes M --rate 3e-4
    python -m engine.training smoke                                                         (seconds, its own data)

A vocabulary of our own, before all this: `vocabulary CORPUS/pairs-*.jsonl.xz --size 16384 --out OWN`, then `label` and
`new` with `--model OWN`; the teacher, which reads its own ids alone, labels SHARDS of its own, and `label --vectors-of
SHARDS` gives those vectors to the others. LoRA on a larger checkpoint: `contrast --lora 16 --widths 1 --width-weights 1
--without-teacher`, with `--base-bits 4` for QLoRA.

Every --out is a model that `Encoder.open` reads, at any time; a command called again with the same --out goes on.
"""
