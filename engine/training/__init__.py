"""How the bundled model is made: data, teacher, losses, loop, and the stages of its training.

    python -m engine.training label CORPUS/pairs-*.jsonl.xz SE_ANSWERS --shards SHARDS      (tokens, teacher's vectors)
    python -m engine.training recipe --shards SHARDS --documents FIRST SECOND THIRD --out OUT    (6 hours on two cores)
    python -m engine.training recipe --list                                           (the commands the recipe runs)
    python -m engine.training smoke                                            (a tiny model in seconds, no input)

The recipe runs these commands in sequence:

    python -m engine.training new --shards SHARDS --out START --teacher-layers 0 1 3 5
    python -m engine.training contrast --shards SHARDS --model START --out STAGE2 --minutes M --rate 5e-4
    python -m engine.training streams LONG_DOCUMENTS --shards SHARDS --model STAGE2 --out STAGE3 --teacher --minutes M
    python -m engine.training average STAGE3 ANOTHER --out OUT

Every --out is a model that `Encoder.open` reads, at any time during the training. A command that is called again with
the same --out resumes. docs/training.md has the rest: more pairs, other vocabularies, static starts and LoRA.
"""
