"""The vector tables below sqlite-vec's interface: storage chunks, the int8 copy, and compaction."""
