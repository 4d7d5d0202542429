"""Builds the stage of a command from its options: data, teacher and prompts. It trains nothing."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from tokenizers import Tokenizer

from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.embedders.bert import BertEmbedder
from longsearch.engine.inference.device import Hardware
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.training.data.batches import Sampling
from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.pairs import read_long_documents
from longsearch.engine.training.data.shards import MAX_PASSAGE_TOKENS, PairSet, load_pairs, tokenizer_hash
from longsearch.engine.training.papers.generative import GenerativeStudent
from longsearch.engine.training.papers.refine import Refine, RefineOptions
from longsearch.engine.training.stages.loop import Stage
from longsearch.engine.training.stages.pair_stages import Contrast, Distillation, Mixture, PairOptions
from longsearch.engine.training.stages.probe import HeldOut
from longsearch.engine.training.stages.sentences import Sentences
from longsearch.engine.training.stages.streams import Encode, StreamOptions, Streams, prepare
from longsearch.engine.training.stages.token_states import States
from longsearch.engine.training.stages.words import Words
from longsearch.engine.training.student.initialise import token_counts
from longsearch.engine.training.student.student import Student, Trainable
from longsearch.engine.training.teachers.opening import MINILM, open_teacher
from longsearch.engine.training.teachers.state_teacher import StateTeacher

StageAndProbe = tuple[Stage, HeldOut | None]
StageMaker = Callable[[argparse.Namespace, Trainable, Tokenizer, Hardware], StageAndProbe]


def distillation(
    arguments: argparse.Namespace, student: Trainable, tokenizer: Tokenizer, hardware: Hardware
) -> StageAndProbe:
    """1: learn the teacher's vectors of single texts"""
    pairs = load_pairs(arguments.shards, tokenizer, True)
    _count_tokens(student, pairs)
    stage = Distillation(student, pairs, _pair_options(arguments))
    return stage, HeldOut(pairs, stage.batches.held_out)


def states(
    arguments: argparse.Namespace, student: Trainable, tokenizer: Tokenizer, hardware: Hardware
) -> StageAndProbe:
    """0: learn the teacher's states of tokens, its vectors and its scores, without labels"""
    if not isinstance(student, Student):
        raise LongsearchError("only a model with the mean readout learns states", "leave out --readout")
    if arguments.new_readout:
        torch.nn.init.eye_(student.projection)
    pairs = load_pairs(arguments.shards, tokenizer, labelled_only=False)
    teacher = StateTeacher(_teacher_of(arguments, tokenizer, hardware), student.model.config.n_layers)
    prompter = Prompter(tokenizer, arguments.instruction_share)
    options = _pair_options(arguments)
    stage = States(student, pairs, options, teacher, prompter)
    held_out = HeldOut(pairs, stage.batches.held_out)
    if arguments.beside is None:
        return stage, held_out
    stored = load_pairs(arguments.beside, tokenizer, True)
    kept: Stage = Distillation(student, stored, options)
    if arguments.beside_scores:
        kept = Contrast(student, stored, replace(options, cosine_weight=0.0), prompter)
    return Mixture(stage, kept, arguments.beside_share, arguments.seed), held_out


def contrast(
    arguments: argparse.Namespace, student: Trainable, tokenizer: Tokenizer, hardware: Hardware
) -> StageAndProbe:
    """2: learn which passage answers which query"""
    pairs = _pairs(arguments, tokenizer)
    words = _words(arguments, pairs, _teacher_of(arguments, tokenizer, hardware)) if _teaches_words(arguments) else None
    return _contrast_of(arguments, student, tokenizer, pairs, words)


def _pairs(arguments: argparse.Namespace, tokenizer: Tokenizer) -> PairSet:
    """Load the pairs, with the teacher's vectors or, if it is not wanted, without them.

    Raises LongsearchError if the shards keep fewer tokens than --max-tokens asks for.
    """
    pairs = load_pairs(arguments.shards, tokenizer, not arguments.without_teacher)
    wanted, (of_query, of_passage) = arguments.text_tokens, pairs.max_tokens
    if wanted and wanted > min(pairs.max_tokens):
        message = f"the shards keep {of_query} tokens of a query and {of_passage} of a passage, not {wanted}"
        raise LongsearchError(message, "label into another folder with a higher --max-tokens")
    return replace(pairs, query_vectors=None, passage_vectors=None) if arguments.without_teacher else pairs


def _contrast_of(
    arguments: argparse.Namespace, student: Trainable, tokenizer: Tokenizer, pairs: PairSet, words: Words | None
) -> StageAndProbe:
    prompter = Prompter(tokenizer, arguments.instruction_share)
    options = _pair_options(arguments)
    if isinstance(student, GenerativeStudent):
        _count_tokens(student, pairs)
        student.steps = arguments.soft_tokens or student.steps
        refine = RefineOptions(arguments.loss_at == "every", arguments.refinement_weight)
        stage: Contrast = Refine(student, pairs, options, prompter, words, refine)
    else:
        stage = Contrast(student, pairs, options, prompter, words)
    return stage, HeldOut(pairs, stage.batches.held_out)


def _count_tokens(student: Trainable, pairs: PairSet) -> None:
    if isinstance(student, GenerativeStudent):
        student.count(torch.from_numpy(token_counts(pairs, len(student.soft.bias))))


def _teaches_words(arguments: argparse.Namespace) -> bool:
    if arguments.words_share and (arguments.without_teacher or not 0 < arguments.words_share < 1):
        hint = "give a share below 1, and leave out --without-teacher"
        raise LongsearchError("words can only be taught beside the teacher", hint)
    return bool(arguments.words_share)


def _words(arguments: argparse.Namespace, pairs: PairSet, teacher: BertEmbedder) -> Words:
    return Words(pairs.passages, teacher.model.get_input_embeddings().weight, arguments.words_share)


def streams(
    arguments: argparse.Namespace, student: Trainable, tokenizer: Tokenizer, hardware: Hardware
) -> StageAndProbe:
    """3: learn to read long documents in one stream"""
    if not isinstance(student, Student):
        raise LongsearchError("LoRA cannot train long streams", "leave out --lora")
    texts = TextTokenizer(tokenizer, None)
    documents = [prepare(d, texts, arguments.max_tokens) for d in read_long_documents(arguments.documents)]
    options = StreamOptions(
        arguments.seed, max_tokens=arguments.max_tokens, slice_tokens=arguments.slice_tokens,
        contrast_weight=arguments.contrast_weight, cosine_weight=arguments.cosine_weight,
        both_ways=not arguments.one_way, joint=arguments.joint,
    )  # fmt: skip
    needed = _teaches_words(arguments) or arguments.teacher
    embedder = _teacher_of(arguments, tokenizer, hardware) if needed else None
    teacher = _reading(embedder) if embedder and arguments.teacher else None
    prompter = Prompter(tokenizer, arguments.instruction_share)
    if arguments.shards is None:
        return Streams(student, documents, options, prompter, teacher), None
    pairs = _pairs(arguments, tokenizer)
    words = _words(arguments, pairs, embedder) if embedder and arguments.words_share else None
    if words and teacher:
        teacher = words.mixed_teacher(teacher)
    of_pairs, held_out = _contrast_of(arguments, student, tokenizer, pairs, words)
    if arguments.sentences_share:
        if teacher is None:
            raise LongsearchError("sentences have no labels, so the teacher must read them", "add --teacher")
        sentences = Sentences(student, pairs, _pair_options(arguments), teacher, tokenizer)
        of_pairs = Mixture(sentences, of_pairs, 1 - arguments.sentences_share, arguments.seed + 1)
    streams = Streams(student, documents, options, prompter, teacher)
    return Mixture(streams, of_pairs, arguments.pairs_share, arguments.seed), held_out


def _reading(teacher: BertEmbedder) -> Encode:
    return partial(teacher.encode_ids, max_tokens=MAX_PASSAGE_TOKENS + 42)  # a short tail may be joined to a passage


def _teacher_of(arguments: argparse.Namespace, tokenizer: Tokenizer, hardware: Hardware) -> BertEmbedder:
    teacher = open_teacher(arguments.teacher or MINILM, hardware.device, hardware.dtype)
    if tokenizer_hash(tokenizer) != tokenizer_hash(teacher.tokenizer):
        hint = "give --teacher the folder of this model's teacher, or leave out --teacher and --words-share"
        raise LongsearchError("the teacher cannot read the ids of another vocabulary", hint)
    return teacher


def _pair_options(arguments: argparse.Namespace) -> PairOptions:
    sampling = Sampling(arguments.source_power, arguments.question_weight, not arguments.mixed_lengths)
    return PairOptions(
        arguments.seed, arguments.batch_tokens, arguments.max_pairs, arguments.hard_share,
        arguments.contrast_weight, arguments.cosine_weight, not arguments.one_way,
        arguments.text_tokens, arguments.accumulate, sampling, arguments.temperature, arguments.states_weight,
        arguments.scores_weight,
    )  # fmt: skip
