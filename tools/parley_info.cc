// parley-info: tells why this rank, store, address and link, for people who ask and for support requests.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>

#include "tools/info/report.h"

namespace {

constexpr int exit_problem = 1;
constexpr int exit_usage = 2;

constexpr const char* footer = R"(Run it in the environment of a rank, for example by
  parley-run -n 1 parley-info
  mpirun -n 2 parley-info --json
It connects to nobody and makes no file that stays. Secrets are not shown: ranks with the same key id have the same one.
Connections to the store prove secret and job together: the store key id.

Exit code: 0; 1 when init() would fail here, with the reasons under "problems"; 2 wrong usage.)";

int run(int argc, char** argv) {
  CLI::App app("Shows what init() would do in this process, and why", "parley-info");
  app.footer(footer);
  app.set_version_flag("--version", "parley-info " PARLEY_VERSION);
  parley::info::Question question;
  bool json = false;
  app.add_option("--method", question.method, "How init() is called; default env://")->type_name("METHOD");
  app.add_option("--rank", question.rank, "The rank given to init()")->type_name("R");
  app.add_option("--world-size", question.world_size, "The world size given to init()")->type_name("N");
  app.add_flag("--json", json, "For programs");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  const auto report = parley::info::make_report(question);
  std::cout << (json ? report.dump(2, ' ', false, parley::info::Json::error_handler_t::replace) + "\n"
                     : parley::info::as_text(report));
  return report["problems"].empty() ? 0 : exit_problem;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "parley-info: %s\n", error.what());
  return exit_problem;
}
