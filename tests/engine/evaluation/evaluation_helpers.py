"""Writes a tiny set and a tiny model."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.training.student.initialise import Shape, new_checkpoint

WORDS = ["apple", "banana", "cherry", "dog", "eagle", "fox", "guitar", "harp", "viola", "lake", "where", "is", "the"]


def write_set(folder: Path, name: str = "tiny") -> Path:
    """Write three documents, three queries (one unjudged), and judgements of gain 2, 1 and 0."""
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


def forbid_reading(monkeypatch):
    """Let every reading of a text by a model raise AssertionError."""

    def refuse(*_, **__):
        raise AssertionError("a text was read")

    for name in ("encode_document", "encode_documents", "encode_query", "stream"):
        monkeypatch.setattr(Encoder, name, refuse)


def write_model(folder: Path) -> Path:
    """Write a random model of 16 dimensions over WORDS, whose vectors differ with the width."""
    vocabulary = {word: i for i, word in enumerate(["[UNK]", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(len(vocabulary), 16, generator=generator)
    new_checkpoint(folder / "model", Shape(16, 2, 8, 4, 8, 8), tokenizer, vectors, seed=0)
    path = folder / "model" / "model.safetensors"
    tensors = load_file(path)
    for name in (name for name in tensors if name.endswith("out_proj.weight")):  # with zeros no state would matter
        tensors[name] = torch.randn(tensors[name].shape, generator=generator).half()
    save_file(tensors, path)
    config = json.loads((folder / "model" / "config.json").read_text())
    config["longsearch"]["widths"] = [1.0, 0.5]
    (folder / "model" / "config.json").write_text(json.dumps(config))
    return folder / "model"
