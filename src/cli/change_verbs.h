// What the verbs that change one record have in common.
#pragma once

#include <string>
#include <string_view>

#include "cli/client.h"
#include "cli/verb.h"
#include "decide/json_edit.h"

namespace pawl::cli {

// Opens a client, makes the call and says what came of it.
ExitCode change_record(const ClientOptions& options, const RecordName& name, std::string_view path,
                       const std::string& body, const Surroundings& surroundings);

// What every such call may carry.
void put_common(JsonMap& body, const ClientOptions& options);

// Of what may be asked for later: one of --at and --in.
void add_later_options(Command& verb, std::string& at, std::string& in);

}  // namespace pawl::cli
