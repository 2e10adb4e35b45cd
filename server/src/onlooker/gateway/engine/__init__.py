"""Getting a job computed: which workers are live, sending, and sending once more."""
