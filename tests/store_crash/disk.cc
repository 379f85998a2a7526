#include "disk.h"

#include <algorithm>
#include <array>

namespace pawl {
namespace {

bool coin(std::mt19937_64& random) { return (random() & 1U) != 0; }

// Whether a change is kept: with one chance for all, so that sometimes hardly any is lost.
class Keeping {
 public:
  explicit Keeping(std::mt19937_64& random) : random_(random) {}

  bool operator()() { return random_() % 1'000 < per_mille_; }

 private:
  static constexpr std::array<std::uint64_t, 3> kPerMille{500, 950, 995};

  std::mt19937_64& random_;
  std::uint64_t per_mille_ = kPerMille[random_() % kPerMille.size()];
};

}  // namespace

std::string_view to_text(Cut cut) {
  switch (cut) {
    case Cut::kill:
      return "process killed";
    case Cut::nothing:
      return "power cut, nothing kept";
    case Cut::everything:
      return "power cut, all kept";
    case Cut::prefix:
      return "power cut, a prefix kept";
    case Cut::reordered:
      return "power cut, some kept, reordered";
    case Cut::torn_512:
      return "power cut, torn at 512 B";
    case Cut::torn_4096:
      return "power cut, torn at 4 KiB";
  }
  return "";
}

// --- names -------------------------------------------------------------------------------------

Disk::Name Disk::name_of(const std::string& path) const {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return {0, path};
  const File directory = find(path.substr(0, slash));
  if (directory == 0) return {0, path};
  return {directory, path.substr(slash + 1)};
}

Disk::File Disk::find(const std::string& path) const {
  const auto named = names_.find(name_of(path));
  return named == names_.end() ? 0 : named->second;
}

std::map<std::string, Disk::File> Disk::paths(const Names& names) const {
  std::map<std::string, File> all;
  const auto add = [&](const auto& add_all, File directory, const std::string& above) -> void {
    for (auto named = names.lower_bound({directory, ""});
         named != names.end() && named->first.directory == directory; ++named) {
      const std::string path = above + named->first.text;
      all[path] = named->second;
      if (is_directory(named->second)) add_all(add_all, named->second, path + "/");
    }
  };
  add(add, 0, "");
  return all;
}

void Disk::name(const Naming& naming) {
  unsynced_names_.push_back(naming);
  apply(naming, names_);
}

Disk::File Disk::create_nameless() {
  contents_[++last_file_] = {};
  return last_file_;
}

Disk::File Disk::create(const std::string& path) {
  const File file = create_nameless();
  name({++last_order_, name_of(path), file});
  return file;
}

void Disk::create_directory(const std::string& path) {
  directories_.insert(++last_file_);
  name({++last_order_, name_of(path), last_file_});
}

void Disk::remove(const std::string& path) {
  std::vector<Name> gone;
  for (const auto& [other, file] : paths(names_))
    if (other == path || other.starts_with(path + "/")) gone.push_back(name_of(other));
  for (const Name& one : gone) name({++last_order_, one, 0});
}

void Disk::rename(const std::string& from, const std::string& to) {
  name({++last_order_, name_of(to), find(from), name_of(from)});
}

void Disk::apply(const Naming& naming, Names& names) {
  if (naming.before) names.erase(*naming.before);
  if (naming.file == 0) {
    names.erase(naming.name);
  } else {
    names[naming.name] = naming.file;
  }
}

void Disk::sync_names(const std::string& directory) {
  const File made = find(directory);
  const auto is_in_it = [&](const Naming& naming) {
    if (naming.name.directory != 0 || made != 0) return naming.name.directory == made;
    const std::string& path = naming.name.text;
    return path.substr(0, path.rfind('/')) == directory;
  };
  for (const Naming& naming : unsynced_names_)
    if (is_in_it(naming)) apply(naming, durable_names_);
  std::erase_if(unsynced_names_, is_in_it);
}

// --- contents ----------------------------------------------------------------------------------

void Disk::apply(const Change& change, std::string& bytes) {
  if (change.truncates) {
    bytes.resize(change.at, '\0');
    return;
  }
  const std::size_t end = change.at + change.bytes.size();
  if (bytes.size() < end) bytes.resize(end, '\0');
  std::copy(change.bytes.begin(), change.bytes.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(change.at));
}

void Disk::write(File file, std::size_t at, std::string_view bytes) {
  Content& content = contents_.at(file);
  content.unsynced.push_back({++last_order_, false, at, std::string(bytes)});
  apply(content.unsynced.back(), content.seen);
}

void Disk::truncate(File file, std::size_t size) {
  Content& content = contents_.at(file);
  content.unsynced.push_back({++last_order_, true, size});
  apply(content.unsynced.back(), content.seen);
}

// One change after the other: of those that a failed sync has lost it makes nothing durable.
void Disk::sync(File file) {
  Content& content = contents_.at(file);
  for (const Change& change : content.unsynced) apply(change, content.durable);
  content.unsynced.clear();
}

std::size_t Disk::bytes_used() const {
  std::size_t used = 0;
  for (const auto& [name, file] : names_)
    if (!is_directory(file)) used += bytes(file).size();
  return used;
}

std::map<std::string, std::string> Disk::seen() const {
  std::map<std::string, std::string> all;
  for (const auto& [path, file] : paths(names_))
    if (!is_directory(file)) all[path] = bytes(file);
  return all;
}

std::vector<std::string> Disk::directories() const {
  std::vector<std::string> all;
  for (const auto& [path, file] : paths(names_))
    if (is_directory(file)) all.push_back(path);
  return all;
}

void Disk::put(const std::string& path, const std::string& bytes) {
  put_directory(path.substr(0, path.rfind('/')));
  const Name name = name_of(path);
  File& file = names_[name];
  if (file == 0) file = create_nameless();
  durable_names_[name] = file;
  contents_[file] = {bytes, bytes, {}};
}

void Disk::put_directory(const std::string& path) {
  if (find(path) != 0) return;
  directories_.insert(++last_file_);
  names_[name_of(path)] = durable_names_[name_of(path)] = last_file_;
}

// --- after the end -----------------------------------------------------------------------------

// The order from which on changes are lost: any of those still unsynced, or one of the last.
std::int64_t Disk::random_end(std::mt19937_64& random) const {
  std::vector<std::int64_t> orders{last_order_ + 1};
  for (const Naming& naming : unsynced_names_) orders.push_back(naming.order);
  for (const auto& [name, file] : names_) {
    if (is_directory(file)) continue;
    for (const Change& change : contents_.at(file).unsynced) orders.push_back(change.order);
  }
  std::sort(orders.begin(), orders.end());
  const std::size_t last = orders.size() - 1;
  return orders[last -
                random() % (coin(random) ? orders.size() : std::min<std::size_t>(3, last + 1))];
}

std::string Disk::torn(const Content& content, std::size_t piece, std::mt19937_64& random) {
  Keeping keeps(random);
  std::string bytes = content.durable;
  for (const Change& change : content.unsynced) {
    if (change.truncates) {
      if (keeps()) apply(change, bytes);
      continue;
    }
    for (std::size_t at = 0; at < change.bytes.size();) {
      const std::size_t size = std::min(piece - (change.at + at) % piece, change.bytes.size() - at);
      Change part{0, false, change.at + at, change.bytes.substr(at, size)};
      const bool grows = part.at >= bytes.size();
      if (keeps()) {
        apply(part, bytes);
      } else if (grows && coin(random)) {
        for (char& byte : part.bytes) byte = static_cast<char>(random());
        apply(part, bytes);
      }
      at += size;
    }
  }
  return bytes;
}

Disk Disk::after(Cut cut, std::mt19937_64& random) const {
  if (cut == Cut::kill) return *this;
  const std::int64_t end = cut == Cut::nothing  ? 0
                           : cut == Cut::prefix ? random_end(random)
                                                : last_order_ + 1;
  const bool chooses = cut == Cut::reordered || cut == Cut::torn_512 || cut == Cut::torn_4096;
  Keeping keeps(random);
  Names names = durable_names_;
  for (const Naming& naming : unsynced_names_)
    if (naming.order < end && (!chooses || keeps())) apply(naming, names);

  Disk found;
  for (const auto& [path, file] : paths(names)) {
    if (is_directory(file)) {
      found.put_directory(path);
      continue;
    }
    const Content& content = contents_.at(file);
    if (cut == Cut::torn_512 || cut == Cut::torn_4096) {
      found.put(path, torn(content, cut == Cut::torn_512 ? 512 : 4096, random));
      continue;
    }
    std::vector<Change> kept;
    for (const Change& change : content.unsynced)
      if (change.order < end && (!chooses || keeps())) kept.push_back(change);
    if (cut == Cut::reordered) std::shuffle(kept.begin(), kept.end(), random);
    std::string bytes = content.durable;
    for (const Change& change : kept) apply(change, bytes);
    found.put(path, bytes);
  }
  return found;
}

}  // namespace pawl
