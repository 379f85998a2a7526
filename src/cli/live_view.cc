#include "cli/live_view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <ostream>
#include <sstream>
#include <thread>

#include "cli/reply_text.h"

namespace pawl::cli {
namespace {

// As much of it as there is room for, from the upper left corner.
void draw(const std::string& text, std::ostream& out) {
  winsize size{};
  const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1;
  const std::size_t rows = is_known ? size.ws_row - 1U : 24;
  const std::size_t columns = is_known ? size.ws_col : 80;
  out << "\x1b[H";
  std::istringstream lines(text);
  std::string line;
  for (std::size_t i = 0; i < rows && std::getline(lines, line); ++i) {
    std::size_t width = 0;
    std::size_t end = 0;
    for (; end < line.size(); ++end) {
      const bool begins = (static_cast<unsigned char>(line[end]) & 0xc0U) != 0x80U;
      if (begins && width++ == columns) break;
    }
    out << line.substr(0, end) << "\x1b[K\n";
  }
  out << "\x1b[J" << std::flush;
}

}  // namespace

ExitCode watch_live(const LiveOptions& options, const Surroundings& surroundings,
                    const std::function<ApiReply(std::string& shown)>& look) {
  std::ostream& out = surroundings.out;
  const bool is_json = options.client.json;
  const bool is_drawn = surroundings.screen && !options.is_once && !is_json;
  if (is_drawn) out << "\x1b[2J";
  bool is_first = true;
  for (bool waits = !options.shows_at_once;; waits = true) {
    if (waits) std::this_thread::sleep_for(options.every);
    std::string shown;
    const ApiReply reply = look(shown);
    if (!is_ok(reply)) {
      if (options.is_once || !is_for_later(reply))
        return report_reply(reply, options.client, "", surroundings);
      surroundings.err << "pawl: " << problem_text(reply.body) << "; trying again" << std::endl;
    } else if (is_drawn) {
      draw(shown, out);
    } else if (is_json) {
      out << shown << std::endl;
    } else {
      out << (is_first ? "" : "\n") << shown << std::flush;
      is_first = false;
    }
    if (options.is_once || !out.good()) return ExitCode::ok;
  }
}

}  // namespace pawl::cli
