/* The commonest causes of the refusals that people meet, and what to send in place of what was sent. */
#ifndef SERVER_HTTP_PROBLEM_CAUSE_H
#define SERVER_HTTP_PROBLEM_CAUSE_H

/* X(CODE, "the cause", "what to do instead"): three to a code, the commonest first. CODE is one of PROBLEMS. */
#define PROBLEM_CAUSES(X) \
    X(MALFORMED_BODY, "NaN, Infinity or -Infinity as a number: Python's json and NumPy print them, JSON has none", \
      "null or \"-Infinity\" where a number may hide a key, as in mask.bias; elsewhere mend the value") \
    X(MALFORMED_BODY, "The text of a Python object (single quotes, True, None), or a form: requests.post(data={..})", \
      "What json.dumps(object) or JSON.stringify(object) makes of it; in Python requests.post(json={..})") \
    X(MALFORMED_BODY, "A body that ends early: it was cut, or the shell ate its quotes", \
      "The whole of it: in a shell between single quotes, or from a file with curl -d @request.json") \
    X(UNAUTHORIZED, "No key was sent", "Authorization: Bearer KEY, or X-API-Key: KEY") \
    X(UNAUTHORIZED, "Another scheme than Bearer, or quotes around the key", "Authorization: Bearer KEY, the key bare") \
    X(UNAUTHORIZED, "A key that is no longer valid, or one of another service", \
      "A key that is a line of the operator's --api-key-file now; SIGHUP reads that file again") \
    X(BODY_TOO_LARGE, "Tensors as nested arrays of many digits", \
      "Packed tensors: {\"dtype\":\"float32\",\"shape\":[2,4],\"base64\":\"..\"} takes 5.4 bytes for a number") \
    X(BODY_TOO_LARGE, "A body packed with gzip that is larger than the limit when it is unpacked", \
      "A smaller one: the limit counts what it unpacks to") \
    X(BODY_TOO_LARGE, "A whole cache in one request", \
      "Parts of the keys, each with \"include\":[\"output\",\"log_sum_exp\"], then POST /v1/attention/merge") \
    X(TOO_LARGE, "include names steps of a large request: each is a number for every query and key", \
      "\"include\":[\"output\"], or the one step that is wanted, as steps.scores") \
    X(TOO_LARGE, "steps.products or steps.contributions, which have a number for every query, key and feature", \
      "POST /v1/attention/explain with the cell that is wanted") \
    X(TOO_LARGE, "Many queries over many keys", \
      "Some of the queries at a time, or parts of the keys, joined by POST /v1/attention/merge") \
    X(UNSUPPORTED_TYPE, "A form of several parts: curl -F, requests.post(files={..}), or FormData in JavaScript", \
      "curl -d, requests.post(json={..}), or JSON.stringify(..) as the body of fetch") \
    X(UNSUPPORTED_TYPE, "Another format: XML, CSV, YAML, MessagePack, CBOR", \
      "The same as JSON, with Content-Type: application/json") \
    X(UNSUPPORTED_TYPE, "A file of numbers as it is: an image, an archive", \
      "JSON around it: its numbers as a packed tensor, {\"dtype\":\"float32\",\"shape\":[2,4],\"base64\":\"..\"}") \
    X(UNSUPPORTED_CODING, "br or zstd", "gzip or deflate, or no coding") \
    X(UNSUPPORTED_CODING, "More than one coding, as gzip, gzip", "One coding") \
    X(UNSUPPORTED_CODING, "Content-Encoding: utf-8 or base64, which are no codings", \
      "No Content-Encoding: JSON is UTF-8, and base64 stands inside it") \
    X(INVALID, "A name of another library: attn_mask, is_causal, num_heads, query", \
      "The name that detail tells, and the value turned round where detail says so") \
    X(INVALID, "Shapes that do not fit: k and v of different length, rows of different length, an axis for a batch", \
      "A value for each key and rows of one length; a batch without heads as [b][1][n][d]") \
    X(INVALID, "A mask as an array", \
      "{\"allow\":[[true,false]]}, where true may attend, or {\"bias\":[[0,null]]}, where null hides") \
    X(RATE, "A loop that asks without a pause", \
      "One request at a time, and a pause of Retry-After seconds after a 429") \
    X(RATE, "Many users behind one proxy, counted as one client", \
      "The proxy's address in the operator's --trusted-proxy, and X-Forwarded-For from the proxy") \
    X(RATE, "One request for each head or each query", "One request for all of them: heads and batches are axes") \
    X(NO_MEMORY, "Many large requests at one time", "The same request after Retry-After seconds") \
    X(NO_MEMORY, "Replies that nobody reads: they hold their memory until they are sent", \
      "Nothing new until the replies before it are read; \"include\":[\"output\"] makes them short") \
    X(NO_MEMORY, "A limit below what the requests need", "Smaller requests, or an operator who raises --memory") \
    X(QUEUE_FULL, "More requests than the processors can compute", "The same request after Retry-After seconds") \
    X(QUEUE_FULL, "Many small requests, each of which waits for a place", \
      "One request for a batch: q, k and v as [b][h][n][d]") \
    X(QUEUE_FULL, "Large requests in front of yours", "The same request later, or to another replica") \
    X(DEADLINE, "All steps of a large request", "\"include\":[\"output\"], or fewer queries") \
    X(DEADLINE, "A place far back in the queue: the time counts while a request waits", \
      "The same request when less is asked of the service, or to another replica") \
    X(DEADLINE, "A time meant for small requests", "Parts of it, or an operator who raises --deadline") \
    X(DRAINING, "The operator ends or replaces this process", "The same request on a new connection") \
    X(DRAINING, "A balancer that does not ask /readyz", "Requests to processes whose /readyz answers 200") \
    X(DRAINING, "A client that gives up at the first 503", "A second try: whoever takes over answers it") \
    X(CONNECTIONS, "A connection for each request", "Many requests on one connection: requests.Session, one curl") \
    X(CONNECTIONS, "Idle connections that are kept open", "Nothing on them: close them") \
    X(CONNECTIONS, "More clients than --max-connections", \
      "The same request after Retry-After seconds, or to another replica") \
    X(CLIENT_CONNECTIONS, "A pool of connections that is larger than the limit", \
      "At most max_client_connections of GET /v1/info at one time") \
    X(CLIENT_CONNECTIONS, "Many users behind one proxy, counted as one client", \
      "The proxy's address in the operator's --trusted-proxy, and X-Forwarded-For from the proxy") \
    X(CLIENT_CONNECTIONS, "Connections that are opened anew and never closed", "Many requests on one connection")

#endif
