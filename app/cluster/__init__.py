"""CLUSTER: reads a folder on many machines with Ray, into the index of one.

The *driver* is the process that a person started. It lists the files and is the only one that writes the index. The
*workers*, one for each GPU or for each few cores, extract texts and run the model. The indexer's pipeline runs in the
driver as it does at home: it gets an extractor and an encoder whose work is done elsewhere.

A *packet* is the documents that a worker reads together. A *stretch* is what it reads of a packet in one call. After
each stretch the driver has the new vectors and the states from which any worker can resume.

Only `app.cluster.ray_pool` and `app.cluster.connection` know Ray. Nothing here is imported without `--on`.
"""
