// A client of a server, over HTTP: calls of the API as requests, and the events of the live feed.
#pragma once

#include <memory>

#include "cli/client.h"
#include "cli/place.h"
#include "pawl/record.h"
#include "pawl/result.h"

namespace pawl::cli {

// Connects when something is asked. Who acts is whose the access token is; an `actor` with a name
// goes into the body of every POST, which takes a token with act_as.
Result<std::unique_ptr<Client>> open_server(const ServerPlace& place, const Actor& actor);

}  // namespace pawl::cli
