"""How the bundled model is made: data, teacher, losses, loop, and the stages of its training.

    python -m engine.training label CORPUS/pairs-*.jsonl.xz SE_ANSWERS --shards SHARDS     (the teacher's vectors, kept)
    python -m engine.training new --shards SHARDS --out START --teacher-layers 0 1 3 5      (of the teacher's six)
    python -m engine.training contrast --shards SHARDS --model START --out STAGE2 --minutes M --rate 5e-4
    python -m engine.training streams CORPUS/long-documents.jsonl.xz --shards SHARDS --model STAGE2 --out STAGE3 \
        --teacher --sentences-share 0.4 --minutes M --rate 3e-4
    python -m engine.training smoke                                                         (seconds, its own data)

Other text joins in with `pairs FOLDER --source NAME --out MORE.jsonl`, and MORE.jsonl beside the corpus in `label`.

A vocabulary of our own, before all this: `vocabulary CORPUS/pairs-*.jsonl.xz --size 16384 --out OWN`, then `label` and
`new` with `--model OWN`; the teacher, which reads its own ids alone, labels SHARDS of its own, and `label --vectors-of
SHARDS` gives those vectors to the others. LoRA on a larger checkpoint: `contrast --lora 16 --widths 1 --width-weights 1
--without-teacher`, with `--base-bits 4` for QLoRA.

Without --teacher-layers `new` makes a static embedder, which wants stage 1, `distil`, before stage 2; with a vocabulary
of our own there is no other way.

Every --out is a model that `Encoder.open` reads, at any time; a command called again with the same --out goes on.
"""
