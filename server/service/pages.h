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
route_page pages_html; /* the form for browsers, of every path that has one */

#endif
