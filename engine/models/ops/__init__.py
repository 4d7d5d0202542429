"""Operations of the models, each in plain torch, with faster twins that are tested against it."""
