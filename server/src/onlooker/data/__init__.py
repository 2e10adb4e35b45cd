"""The stage that hands numbers out: metrics of a stream over HTTP, for whoever has its token."""
