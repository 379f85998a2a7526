// Where the rows beside records are not what the records say, and what SQLite itself finds.
#pragma once

#include <vector>

#include "store/sqlite/tables.h"
#include "store/store.h"

namespace pawl::sqlite {

Result<std::vector<Violation>> check_rows(Database& db, Tables& tables);

}  // namespace pawl::sqlite
