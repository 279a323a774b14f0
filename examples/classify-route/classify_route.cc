// Answers HTTP requests behind a route of `wasinn serve`: the request is an image, the answer has the probabilities of
// its classes.
//
// By the Common Gateway Interface (RFC 3875) the request's method and headers are in the environment, its body is
// stdin, and the answer is written to stdout.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "image.h"
#include "wasi_nn.hpp"

namespace {

std::vector<uint8_t> ReadBody() {
  std::vector<uint8_t> body;
  uint8_t piece[4096];
  for (ssize_t n = 0; (n = read(STDIN_FILENO, piece, sizeof piece)) > 0;) body.insert(body.end(), piece, piece + n);
  return body;
}

int Answer(const char* status, const std::string& body) {
  std::printf("Status: %s\nContent-Type: application/json\n\n%s\n", status, body.c_str());
  return 0;
}

int AnswerError(const char* status, std::string_view why) {
  return Answer(status, "{\"error\": \"" + std::string(why) + "\"}");
}

wasi_nn::Status Classify(const Pixels& pixels, std::vector<float>* scores) {
  wasi_nn::Graph graph;
  if (wasi_nn::Status status = graph.load_by_name("digits"); !status) return status;
  wasi_nn::Context context;
  if (wasi_nn::Status status = context.init(graph); !status) return status;
  if (wasi_nn::Status status = context.set_input(0, pixels, {1, 1, kSide, kSide}); !status) return status;
  if (wasi_nn::Status status = context.compute(); !status) return status;
  return context.get_output(0, *scores);
}

}  // namespace

int main() {
  const char* method = std::getenv("REQUEST_METHOD");
  if (method == nullptr || std::string_view(method) != "POST")
    return AnswerError("405 Method Not Allowed", "POST an image");
  Pixels pixels;
  std::string error;
  if (!DecodeImage(ReadBody(), &pixels, &error)) return AnswerError("400 Bad Request", error);
  std::vector<float> scores;
  if (const wasi_nn::Status status = Classify(pixels, &scores); !status) {
    return AnswerError("503 Service Unavailable", status.name());
  }
  std::string list;
  for (const float score : scores) list += (list.empty() ? "" : ", ") + std::to_string(score);
  return Answer("200 OK", "{\"scores\": [" + list + "]}");
}
