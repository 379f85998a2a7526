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

Disk::File Disk::find(const std::string& path) const {
  const auto named = names_.find(path);
  return named == names_.end() ? 0 : named->second;
}

Disk::File Disk::create_nameless() {
  contents_[++last_file_] = {};
  return last_file_;
}

Disk::File Disk::create(const std::string& path) {
  const File file = create_nameless();
  unsynced_names_.push_back({++last_order_, path, file});
  apply(unsynced_names_.back(), names_);
  return file;
}

void Disk::remove(const std::string& path) {
  unsynced_names_.push_back({++last_order_, path, 0});
  apply(unsynced_names_.back(), names_);
}

void Disk::apply(const Naming& naming, Names& names) {
  if (naming.file == 0) {
    names.erase(naming.path);
  } else {
    names[naming.path] = naming.file;
  }
}

void Disk::sync_names() {
  durable_names_ = names_;
  unsynced_names_.clear();
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
  for (const auto& [path, file] : names_) used += bytes(file).size();
  return used;
}

std::map<std::string, std::string> Disk::seen() const {
  std::map<std::string, std::string> all;
  for (const auto& [path, file] : names_) all[path] = bytes(file);
  return all;
}

void Disk::put(const std::string& path, const std::string& bytes) {
  File& file = names_[path];
  if (file == 0) file = create_nameless();
  durable_names_[path] = file;
  contents_[file] = {bytes, bytes, {}};
}

// --- after the end -----------------------------------------------------------------------------

// The order from which on changes are lost: any of those still unsynced, or one of the last.
std::int64_t Disk::random_end(std::mt19937_64& random) const {
  std::vector<std::int64_t> orders{last_order_ + 1};
  for (const auto& [path, file] : names_)
    for (const Change& change : contents_.at(file).unsynced) orders.push_back(change.order);
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
  for (const auto& [path, file] : names) {
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
