"""HTTP for every process that serves it: servers, limits, one gate, problems, routes, CORS, OpenAPI, health."""
