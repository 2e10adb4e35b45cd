"""The first stage: takes frames in, as jobs, blobs and feeds over HTTP."""
