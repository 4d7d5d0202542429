"""Planning: whatever has happened on the disk, a catalogue that carries out the plan equals the disk."""

from dataclasses import replace
from itertools import groupby

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from longsearch.engine.store.records import FileStamp, KnownFile
from longsearch.indexer.plan import Action, Forget, Move, Read, RootOffline, as_read, identity, plan

A = FileStamp("a.txt", 10, 100, 1)
B = FileStamp("b.txt", 20, 200, 2)


def catalogue(*stamps: FileStamp, failed: bool = False) -> dict[str, KnownFile]:
    return {stamp.path: KnownFile(stamp, failed) for stamp in stamps}


def listing(*stamps: FileStamp) -> dict[str, FileStamp]:
    return {stamp.path: stamp for stamp in stamps}


def at(path: str, stamp: FileStamp) -> FileStamp:
    return FileStamp(path, stamp.size, stamp.mtime_ns, stamp.inode)


def test_unchanged_files_need_no_action() -> None:
    assert plan(listing(A, B), catalogue(A, B)) == []
    assert plan({}, {}) == []


def test_new_files_are_read_in_the_order_of_their_names() -> None:
    assert plan(listing(B, A), {}) == [Read(A), Read(B)]


@pytest.mark.parametrize(
    "changed", [FileStamp("a.txt", 11, 100, 1), FileStamp("a.txt", 10, 101, 1), FileStamp("a.txt", 10, 100, 9)]
)
def test_a_file_whose_size_time_or_inode_changed_is_read(changed: FileStamp) -> None:
    assert plan(listing(changed), catalogue(A)) == [Read(changed)]


def test_a_file_is_read_again_when_the_system_says_that_it_was_touched() -> None:
    was, touched = replace(A, ctime_ns=5), replace(A, ctime_ns=6)
    assert plan(listing(touched), catalogue(was)) == [Read(touched)]
    assert plan(listing(was), catalogue(was)) == []
    assert plan(listing(touched), catalogue(A)) == plan(listing(A), catalogue(was)) == []  # one of them is not known


def test_a_file_that_had_just_changed_when_it_was_listed_is_looked_at_again_once() -> None:
    listed = replace(A, ctime_ns=50 * 10**9)
    for listed_ns, is_settled in ((51 * 10**9, False), (49 * 10**9, False), (53 * 10**9, True), (40 * 10**9, True)):
        kept = as_read(listed, listed_ns)
        assert plan(listing(listed), catalogue(kept)) == ([] if is_settled else [Read(listed)])
    assert plan(listing(listed), catalogue(as_read(listed, 60 * 10**9))) == []
    assert as_read(A, 10**9) == A and not as_read(A, 10**9).ctime_ns  # a system that does not say it


def test_a_file_is_read_again_when_the_reader_of_its_format_has_learnt_more() -> None:
    newer = replace(A, reader_version=2)
    assert newer == A
    assert plan(listing(newer, B), catalogue(A, B)) == [Read(newer)]
    assert plan(listing(A, B), catalogue(newer, B)) == []  # an older longsearch changes nothing


def test_a_failed_file_is_read_again_when_it_has_changed() -> None:
    assert plan(listing(A), catalogue(A, failed=True)) == []
    changed = FileStamp("a.txt", 10, 999, 1)
    assert plan(listing(changed), catalogue(A, failed=True)) == [Read(changed)]


def test_a_failed_file_is_read_again_when_its_retry_is_due() -> None:
    known = {"a.txt": KnownFile(A, True, retry_at=1_000.0), "b.txt": KnownFile(B, True)}
    assert plan(listing(A, B), known, now_s=999.0) == []
    assert plan(listing(A, B), known, now_s=1_000.0) == [Read(A)]


def test_a_file_whose_name_changes_only_its_case_is_moved() -> None:
    new = at("A.TXT", A)
    assert plan(listing(new, B), catalogue(A, B)) == [Move("a.txt", new)]


def test_without_inodes_files_that_exchange_their_names_are_read() -> None:
    a, b = FileStamp("a.txt", 10, 100, 0), FileStamp("b.txt", 20, 200, 0)
    swapped = at("a.txt", b), at("b.txt", a)
    assert plan(listing(*swapped), catalogue(a, b)) == [Read(swapped[0]), Read(swapped[1])]


def test_without_inodes_a_file_with_a_new_name_is_read_before_its_old_name_is_forgotten() -> None:
    old = FileStamp("a.txt", 10, 100, 0)  # so its document is still known, and nothing is embedded
    new = at("A.TXT", old)
    assert plan(listing(new), catalogue(old)) == [Read(new), Forget("a.txt")]


def test_two_files_that_exchange_their_names_are_moved_and_not_read() -> None:
    assert plan(listing(at("a.txt", B), at("b.txt", A)), catalogue(A, B)) == [
        Move("b.txt", at("a.txt", B)),
        Move("a.txt", at("b.txt", A)),
    ]


def test_only_the_new_log_is_read_when_logs_rotate() -> None:
    new = FileStamp("log.txt", 5, 300, 3)
    first, second = at("log.txt", A), at("log.1.txt", B)
    assert plan(listing(new, at("log.1.txt", A), at("log.2.txt", B)), catalogue(first, second)) == [
        Move("log.txt", at("log.1.txt", A)),
        Move("log.1.txt", at("log.2.txt", B)),
        Read(new),
    ]


def test_a_file_that_replaces_another_is_moved_and_not_read() -> None:
    assert plan(listing(at("b.txt", A)), catalogue(A, B)) == [Move("a.txt", at("b.txt", A))]


def test_a_copy_of_an_overwritten_file_is_read_before_the_original_goes() -> None:
    copy, new = FileStamp("z.txt", B.size, 5, 9), at("b.txt", A)
    assert plan(listing(new, copy), catalogue(A, B)) == [Read(copy), Move("a.txt", new)]
    edited = FileStamp("b.txt", 21, 300, 2)
    assert plan(listing(A, edited, copy), catalogue(A, B)) == [Read(copy), Read(edited)]


def test_a_vanished_file_is_forgotten() -> None:
    assert plan(listing(A), catalogue(A, B)) == [Forget("b.txt")]


def test_a_renamed_file_is_moved_and_not_read() -> None:
    new = at("sub/c.txt", A)
    assert plan(listing(new, B), catalogue(A, B)) == [Move("a.txt", new)]


def test_a_file_that_was_renamed_and_changed_is_read() -> None:
    new = FileStamp("c.txt", 10, 101, 1)
    assert plan(listing(new), catalogue(A)) == [Read(new), Forget("a.txt")]  # the same size: it may be a copy


def test_a_new_file_of_the_size_of_a_vanished_file_is_read_before_the_vanished_file_is_forgotten() -> None:
    same_size, other = FileStamp("z.txt", A.size, 5, 5), FileStamp("c.txt", A.size + 1, 5, 6)
    assert plan(listing(same_size, other), catalogue(A)) == [Read(same_size), Forget("a.txt"), Read(other)]


def test_a_vanished_file_moves_to_one_name_only() -> None:
    one, two = at("one.txt", A), at("two.txt", A)  # a second hard link
    assert plan(listing(one, two), catalogue(A)) == [Move("a.txt", one), Read(two)]


def test_a_copy_is_read() -> None:
    copy = FileStamp("copy.txt", A.size, A.mtime_ns, 7)
    assert plan(listing(A, copy), catalogue(A)) == [Read(copy)]


def test_without_inodes_a_renamed_file_is_read_and_not_moved() -> None:
    old = FileStamp("a.txt", 10, 100, 0)
    new = at("c.txt", old)
    assert plan(listing(new), catalogue(old)) == [Read(new), Forget("a.txt")]


def test_an_empty_root_forgets_nothing() -> None:
    with pytest.raises(RootOffline, match="2 files") as caught:
        plan({}, catalogue(A, B))
    assert caught.value.hint


def test_files_in_an_unlisted_folder_are_not_forgotten() -> None:
    inside, beside = FileStamp("locked/x.txt", 1, 1, 5), FileStamp("locked2/x.txt", 1, 1, 6)
    assert plan(listing(A), catalogue(A, inside, beside), unlisted=["locked"]) == [Forget("locked2/x.txt")]
    assert plan({}, catalogue(inside), unlisted=["locked"]) == []
    with pytest.raises(RootOffline):
        plan({}, catalogue(inside, beside), unlisted=["locked"])


def test_a_file_of_an_unlisted_folder_that_is_found_elsewhere_is_moved() -> None:
    inside, beside = FileStamp("usb/x.txt", 1, 1, 5), FileStamp("usb/y.txt", 1, 1, 6)
    new = at("disk/x.txt", inside)
    assert plan(listing(new), catalogue(inside, beside), unlisted=["usb"]) == [Move("usb/x.txt", new)]


PATHS = st.sampled_from([f"{folder}{name}.txt" for folder in ("", "x/", "y/") for name in "abc"])


class DiskAndCatalogue(RuleBasedStateMachine):
    """The disk changes at random; a catalogue that carries out the plan must equal the disk."""

    files = Bundle("files")

    @initialize()
    def begin(self) -> None:
        self.disk: dict[str, FileStamp] = {}
        self.known: dict[str, KnownFile] = {}
        self.clock = 0
        self.in_step = True

    def tick(self) -> int:
        self.clock += 1
        self.in_step = False
        return self.clock

    @rule(target=files, path=PATHS, size=st.integers(0, 3))
    def write(self, path: str, size: int) -> str:
        now = self.tick()
        inode = self.disk[path].inode if path in self.disk else now
        self.disk[path] = FileStamp(path, size, now, inode)
        return path

    @rule(target=files, path=PATHS, size=st.integers(0, 3))
    def save_atomically(self, path: str, size: int) -> str:
        now = self.tick()
        self.disk[path] = FileStamp(path, size, now, now)
        return path

    @rule(target=files, old=files, new=PATHS)
    def rename(self, old: str, new: str) -> str:
        if old in self.disk:
            self.tick()
            self.disk[new] = at(new, self.disk.pop(old))
        return new

    @rule(one=files, two=files)
    def exchange_names(self, one: str, two: str) -> None:
        if one in self.disk and two in self.disk:
            self.tick()
            self.disk |= {one: at(one, self.disk[two]), two: at(two, self.disk[one])}

    @rule(path=consumes(files))
    def delete(self, path: str) -> None:
        if self.disk.pop(path, None):
            self.tick()

    @rule(fails=st.booleans())
    def follow(self, fails: bool) -> None:
        try:
            actions = plan(self.disk, self.known)
        except RootOffline:
            assert not self.disk
            assert self.known
            return
        before = {identity(known.stamp) for known in self.known.values()}
        assert not [action for action in actions if isinstance(action, Read) and identity(action.stamp) in before]
        for kind, run in groupby(actions, key=type):
            if kind is Move:
                self.move([action for action in run if isinstance(action, Move)])
            else:
                for action in run:
                    self.carry_out(action, fails)
        self.in_step = True

    def carry_out(self, action: Action, fails: bool) -> None:
        match action:
            case Read(stamp):
                self.known[stamp.path] = KnownFile(stamp, fails)
            case Forget(path):
                del self.known[path]

    def move(self, moves: list[Move]) -> None:
        """Carry out all moves at one moment."""
        taken = [(self.known.pop(move.old), move.new) for move in moves]
        for known, new in taken:
            assert identity(known.stamp) == identity(new)
            self.known[new.path] = KnownFile(new, known.failed)

    @invariant()
    def a_catalogue_that_carried_out_the_plan_equals_the_disk(self) -> None:
        if self.in_step:
            assert {path: known.stamp for path, known in self.known.items()} == self.disk
            assert not self.disk or plan(self.disk, self.known) == []


TestDiskAndCatalogue = DiskAndCatalogue.TestCase
