"""STORES: folders whose index many machines read. A *pointer*, a small file beside the index, names the store."""
