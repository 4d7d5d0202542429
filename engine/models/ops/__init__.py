"""Operations the families share, each in plain torch; faster twins stand beside them and are tested against them."""
