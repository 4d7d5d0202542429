"""How the bundled model is made: data, teacher, losses, loop, and the stages of its training.

    python -m longsearch.engine.training recipe --list        (the commands that the recipe runs)
    python -m longsearch.engine.training smoke                (a tiny model in seconds, no input)
    python -m longsearch.engine.training label CORPUS/pairs-*.jsonl.xz SE_ANSWERS --shards SHARDS
    python -m longsearch.engine.training recipe --shards SHARDS --documents FIRST SECOND THIRD --out OUT

`label` tokenizes pairs and stores the teacher's vectors. The recipe takes 6 hours on two cores, and runs these commands
in sequence:

    new --shards SHARDS --out START --teacher-layers 0 1 3 5
    contrast --shards SHARDS --model START --out STAGE2 --minutes M --rate 5e-4
    streams LONG_DOCUMENTS --shards SHARDS --model STAGE2 --out STAGE3 --teacher --minutes M
    average STAGE3 ANOTHER --out OUT

Every --out is a model that `Encoder.open` reads, at any time during the training. A command that is called again with
the same --out resumes. docs/training.md has the rest: more pairs, models of many languages, and LoRA.
"""
