// The API as an OpenAPI 3.1 document, made from the table of routes and that of errors.
#pragma once

#include "pawl/json.h"

namespace pawl {

Json openapi_document();

}  // namespace pawl
