"""RECURRENT EMBEDDINGS (Grantner et al., arXiv 2604.18199): the families RWKV-7 and xLSTM, and the readout `eos`."""
