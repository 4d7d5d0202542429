"""A tiny set and a tiny model, made on the spot."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from engine.training.initialise import Shape, StaticStart, new_checkpoint

WORDS = ["apple", "banana", "cherry", "dog", "eagle", "fox", "guitar", "harp", "viola", "lake", "where", "is", "the"]


def write_set(folder: Path, name: str = "tiny") -> Path:
    """Three documents, three queries (one unjudged), one judgement of gain 2 and one of 0."""
    target = folder / name
    target.mkdir(parents=True)
    corpus = [
        {"_id": "fruit", "title": "apple", "text": "banana cherry"},
        {"_id": "animals", "title": "", "text": "dog eagle fox"},
        {"_id": "music", "title": "guitar", "text": "guitar harp viola"},
    ]
    queries = [{"_id": "a", "text": "where is the dog"}, {"_id": "b", "text": "harp"}, {"_id": "c", "text": "lake"}]
    (target / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (target / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)) + "\n")
    (target / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\na\tanimals\t2\na\tfruit\t0\nb\tmusic\t1\n")
    (target / "meta.json").write_text(json.dumps({"name": name}))
    return target


def write_model(folder: Path) -> Path:
    """A random model of 16 dimensions over WORDS, at every width another."""
    vocabulary = {word: i for i, word in enumerate(["[UNK]", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    generator = torch.Generator().manual_seed(0)
    start = StaticStart(torch.randn(len(vocabulary), 16, generator=generator), torch.zeros(len(vocabulary)))
    new_checkpoint(folder / "model", Shape(16, 2, 8, 4, 8, 8), tokenizer, start, seed=0)
    path = folder / "model" / "model.safetensors"
    tensors = load_file(path)
    for name in (name for name in tensors if name.endswith("out_proj.weight")):  # zero, nothing would be carried
        tensors[name] = torch.randn(tensors[name].shape, generator=generator).half()
    save_file(tensors, path)
    return folder / "model"
