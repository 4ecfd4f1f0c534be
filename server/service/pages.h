/* What GET answers: small texts that are made on the spot. */
#ifndef SERVER_SERVICE_PAGES_H
#define SERVER_SERVICE_PAGES_H

#include "server/service/route.h"

route_page pages_links;
route_page pages_alive;
route_page pages_ready;
route_page pages_info;
route_page pages_metrics;
route_page pages_openapi;
route_page pages_problems;
route_page pages_problem;
route_page pages_examples;
route_page pages_example;
route_page pages_asset;
route_page pages_release_asset;
route_page pages_docs;
route_page pages_inference;
route_page pages_inference_live;
route_page pages_inference_ready;
route_page pages_model;
route_page pages_model_ready;
route_page pages_model_config;
route_page pages_model_stats;
route_page pages_models;

/* The form for browsers, of a route that has one. The status stays 0 when there is nothing of the name. */
void pages_html(const struct service *service, const struct route *route, const char *name, struct page *page);

#endif
