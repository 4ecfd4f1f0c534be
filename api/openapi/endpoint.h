/* The paths of the service, each declared once: the OpenAPI document, the kinds of job and the server's routes are made
 * of these rows. */
#ifndef API_OPENAPI_ENDPOINT_H
#define API_OPENAPI_ENDPOINT_H

/* What is special about a path. */
enum endpoint_trait {
    ENDPOINT_OPEN = 1,        /* needs no key */
    ENDPOINT_PROBE = 2,       /* asked all the time: needs no key, is not limited, is answered whatever the load */
    ENDPOINT_LASTING = 4,     /* answers the same as long as the process lives: it has an ETag */
    ENDPOINT_STATE = 8,       /* 503 has the page too, not a problem */
    ENDPOINT_NAMED = 16,      /* the path ends with {name} */
    ENDPOINT_TEXT = 32,       /* there is a form for people, text/plain */
    ENDPOINT_HTML = 64,       /* a page with a form for browsers, text/html */
    ENDPOINT_FILE = 128,      /* a page of a type of its own, whatever Accept says */
    ENDPOINT_PICTURE = 256,   /* there is a picture, image/svg+xml */
    ENDPOINT_BINARY = 512,    /* bytes may follow the JSON, of the request and of the reply */
    ENDPOINT_POSTED = 1024,   /* a page that POST asks for, whatever the body */
    ENDPOINT_RELEASE = 2048,  /* the part before {name} is {release}: what is there never changes */
    ENDPOINT_JOB = 4096,      /* computes; rows of ENDPOINT_JOBS do not name it */
    ENDPOINT_PROTOCOL = 8192, /* below ENDPOINT_INFERENCE; rows do not name it */
};

#define ENDPOINT_OBJECT "{\"type\":\"object\"}"
#define ENDPOINT_SCHEMA(name) "{\"$ref\":\"#/components/schemas/" name "\"}"
#define ENDPOINT_STATUS \
    "{\"type\":\"object\",\"required\":[\"status\"],\"properties\":{\"status\":{\"type\":\"string\"}}}"

#define ENDPOINT_SWITCH(name) \
    "{\"type\":\"object\",\"required\":[\"" name "\"],\"properties\":{\"" name "\":{\"type\":\"boolean\"}}}"

/* The paths of the Open Inference Protocol. Below a model they may name its version: /v2/models/attention/versions/1.
 */
#define ENDPOINT_INFERENCE "/v2"
#define ENDPOINT_MODEL "/v2/models/attention"
#define ENDPOINT_VERSION ENDPOINT_MODEL "/versions/1"

/* GET: a page. The server's function (pages_...), path, operation, what it is in the list of links, what it is in
 * OpenAPI, traits, media type, schema. */
#define ENDPOINT_PAGES(X) \
    X(links, "/", "root", "this list; in a browser the explorer", "Links to everything, or the explorer", \
      ENDPOINT_OPEN | ENDPOINT_LASTING | ENDPOINT_HTML | ENDPOINT_TEXT, "application/json", ENDPOINT_SCHEMA("Links")) \
    X(docs, "/docs", "docs", "the reference, for a browser", "The reference, for a browser", \
      ENDPOINT_OPEN | ENDPOINT_LASTING, "text/html", "{\"type\":\"string\"}") \
    X(asset, "/web/{name}", "asset", "a file of the explorer", "A file of the explorer: script, style or picture", \
      ENDPOINT_OPEN | ENDPOINT_NAMED | ENDPOINT_LASTING | ENDPOINT_FILE, "text/javascript", "{\"type\":\"string\"}") \
    X(release_asset, "/web/{release}/{name}", "releaseAsset", "the same, kept by browsers for a year", \
      "A file of the explorer, under a name that changes with the files: it may be kept for a year", \
      ENDPOINT_OPEN | ENDPOINT_NAMED | ENDPOINT_RELEASE | ENDPOINT_LASTING | ENDPOINT_FILE, "text/javascript", \
      "{\"type\":\"string\"}") \
    X(alive, "/livez", "livez", "whether the process is alive", "The process runs", ENDPOINT_PROBE, \
      "application/json", ENDPOINT_STATUS) \
    X(ready, "/readyz", "readyz", "whether it takes requests", "The service takes requests", \
      ENDPOINT_PROBE | ENDPOINT_STATE, "application/json", ENDPOINT_STATUS) \
    X(ready, "/health", "health", "the same as /readyz", "The same as /readyz", ENDPOINT_PROBE | ENDPOINT_STATE, \
      "application/json", ENDPOINT_STATUS) \
    X(metrics, "/metrics", "metrics", "counters for Prometheus", "Counters for Prometheus", ENDPOINT_PROBE, \
      "text/plain", "{\"type\":\"string\"}") \
    X(info, "/v1/info", "info", "versions, limits and features", \
      "Version, limits in force, features, threads, BLAS and its kernel", ENDPOINT_LASTING, "application/json", \
      ENDPOINT_SCHEMA("Information")) \
    X(openapi, "/openapi.json", "openapi", "all of this as OpenAPI 3.1", "This document", \
      ENDPOINT_OPEN | ENDPOINT_LASTING, "application/json", ENDPOINT_OBJECT) \
    X(problems, "/problems", "problems", "every refusal and what to do about it", \
      "Every refusal and what to do about it", ENDPOINT_OPEN | ENDPOINT_LASTING | ENDPOINT_HTML | ENDPOINT_TEXT, \
      "application/json", "{\"type\":\"array\",\"items\":" ENDPOINT_SCHEMA("Refusal") "}") \
    X(problem, "/problems/{name}", "problem", "one of them", "One refusal, where the type of a problem points", \
      ENDPOINT_OPEN | ENDPOINT_NAMED | ENDPOINT_LASTING | ENDPOINT_HTML | ENDPOINT_TEXT, "application/json", \
      ENDPOINT_SCHEMA("Refusal")) \
    X(examples, "/v1/examples", "examples", "worked examples", \
      "Worked examples: what each teaches and what to look at", ENDPOINT_LASTING | ENDPOINT_HTML | ENDPOINT_TEXT, \
      "application/json", ENDPOINT_SCHEMA("Examples")) \
    X(example, "/v1/examples/{name}", "example", "one of them, a request for /v1/attention", \
      "One of them: a request for /v1/attention", ENDPOINT_NAMED | ENDPOINT_LASTING | ENDPOINT_HTML, \
      "application/json", ENDPOINT_SCHEMA("AttentionRequest")) \
    X(inference, ENDPOINT_INFERENCE, "inference", "the Open Inference Protocol", \
      "Open Inference Protocol: name, version and extensions of the server", ENDPOINT_LASTING, "application/json", \
      ENDPOINT_OBJECT) \
    X(inference_live, ENDPOINT_INFERENCE "/health/live", "inferenceLive", "whether the process is alive, for it", \
      "Open Inference Protocol: the process runs", ENDPOINT_PROBE, "application/json", ENDPOINT_SWITCH("live")) \
    X(inference_ready, ENDPOINT_INFERENCE "/health/ready", "inferenceReady", "whether it takes requests, for it", \
      "Open Inference Protocol: the service takes requests", ENDPOINT_PROBE | ENDPOINT_STATE, "application/json", \
      ENDPOINT_SWITCH("ready")) \
    X(model, ENDPOINT_MODEL, "model", "inputs and outputs of its model", \
      "Open Inference Protocol: inputs and outputs of the model", ENDPOINT_LASTING, "application/json", \
      ENDPOINT_OBJECT) \
    X(model_ready, ENDPOINT_MODEL "/ready", "modelReady", "whether its model takes requests", \
      "Open Inference Protocol: the model takes requests", ENDPOINT_PROBE | ENDPOINT_STATE, "application/json", \
      ENDPOINT_SWITCH("ready")) \
    X(model_config, ENDPOINT_MODEL "/config", "modelConfig", "the same as perf_analyzer reads them", \
      "Open Inference Protocol: inputs and outputs as perf_analyzer reads them", ENDPOINT_LASTING, "application/json", \
      ENDPOINT_OBJECT) \
    X(model_stats, ENDPOINT_MODEL "/stats", "modelStats", "how many requests it has had, and how long they took", \
      "Open Inference Protocol: counts and times of the model's requests", 0, "application/json", ENDPOINT_OBJECT) \
    X(models, ENDPOINT_INFERENCE "/repository/index", "models", "the list of its models", \
      "Open Inference Protocol: the list of models; the body may be empty", ENDPOINT_POSTED, "application/json", \
      "{\"type\":\"array\",\"items\":{\"type\":\"object\"}}")

/* POST: a job. Its kind (JOB_...), its functions (job_...), path, operation, what it is in the list of links, what it
 * is in OpenAPI, traits, the schema of its reply, the table of its request (NULL: its schema is the reply's beside it,
 * InferRequest). */
#define ENDPOINT_JOBS(X) \
    X(ATTENTION, attention, "/v1/attention", "attention", "compute attention", \
      "Compute attention, with every step of it on demand", ENDPOINT_TEXT | ENDPOINT_PICTURE, "AttentionReply", \
      options_table) \
    X(EXPLAIN, explain, "/v1/attention/explain", "explain", "one cell told as arithmetic", \
      "Tell one query and one key as arithmetic", ENDPOINT_TEXT, "ExplainReply", options_explain_table) \
    X(MERGE, merge, "/v1/attention/merge", "merge", "join partial results over disjoint keys", \
      "Join partial results over disjoint keys by their log-sum-exp", 0, "MergeReply", merge_request_table) \
    X(DECODE, steps, "/v1/decode", "decode", "steps one after another", \
      "Compute attention step by step: the present of each is the past of the next", 0, "DecodeReply", \
      options_steps_table) \
    X(INFER, infer, ENDPOINT_MODEL "/infer", "infer", "compute attention by the Open Inference Protocol", \
      "Open Inference Protocol: compute attention of tensors in JSON or behind it, in binary", ENDPOINT_BINARY, \
      "InferReply", NULL)

#endif
