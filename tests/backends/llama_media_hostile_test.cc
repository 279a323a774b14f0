// Images and sounds of an attacker, and what they may take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "backends/llama_media.h"

namespace wasinn::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class LlamaMediaHostile : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(model_.loaded()) << model_.loaded().message;
    honest_ = Answer(&context_, {ImagePart(Url(Png(Picture(32, 32, 1))))});
    ASSERT_THAT(honest_, Not(HasSubstr("error")));
  }
  void TearDown() override {
    EXPECT_EQ(Answer(&context_, {ImagePart(Url(Png(Picture(32, 32, 1))))}), honest_) << "the model goes on";
  }

  static std::string Url(const std::string& file) { return DataUrl("image/png", file); }
  std::string Of(const std::string& url) { return Answer(&context_, {ImagePart(url)}); }

  const Host host_;
  const FileModel model_{host_, TinyMediaOptions("see.gguf")};
  Context context_{model_};
  std::string honest_;
};

std::string CodeOf(wasinn_code code) { return "error " + std::to_string(code) + ": "; }

TEST_F(LlamaMediaHostile, BrokenFilesAreRefused) {
  const std::string png = Png(Picture(64, 64, 1)), jpeg = Jpeg(Picture(64, 64, 1));
  const std::string wrong = CodeOf(WASINN_INVALID_ARGUMENT) + "the prompt: image 1: ";
  for (const size_t size : {size_t{0}, size_t{1}, size_t{8}, size_t{20}, png.size() / 2, png.size() - 20}) {
    EXPECT_THAT(Of(Url(png.substr(0, size))), HasSubstr(wrong)) << size;
  }
  for (const size_t size : {size_t{2}, size_t{30}, size_t{300}}) {
    EXPECT_THAT(Of(Url(jpeg.substr(0, size))), HasSubstr(wrong)) << size;
  }
  EXPECT_THAT(Of(Url("GIF89a")), HasSubstr(wrong));
  EXPECT_THAT(Of(Url("RIFFxxxxWEBPVP8 ")), HasSubstr(wrong));
  EXPECT_THAT(Of(Url("BM\x01")), HasSubstr(wrong));
  EXPECT_THAT(Of(Url("neither of these")), HasSubstr("no PNG, JPEG, WebP, GIF or BMP"));
  EXPECT_THAT(Of(Url(Wav(16000, Tone(16000, 0.1)))), HasSubstr(wrong)) << "a sound as an image";
}

TEST_F(LlamaMediaHostile, FlippedBytesAreReadOrRefused) {
  uint32_t random = 1;
  for (const std::string& file : {Png(Picture(48, 48, 1)), Jpeg(Picture(48, 48, 1)), Bmp(Picture(48, 48, 1))}) {
    for (int i = 0; i < 60; ++i) {
      std::string broken = file;
      for (int n = 0; n < 3; ++n) {
        random = random * 1664525 + 1013904223;
        broken[random % broken.size()] ^= static_cast<char>(1 << (random >> 28 & 7));
      }
      Of(Url(broken));
    }
  }
}

TEST_F(LlamaMediaHostile, HeadersOfManyPixelsTakeNoMemory) {
  Account guest;
  Context context(model_, 0, "{}", &guest);
  for (const auto& [width, height] : {std::pair(65535U, 65535U), std::pair(0x7fffffffU, 0x7fffffffU),
                                      std::pair(16384U, 16384U), std::pair(16384U, 8U), std::pair(0U, 8U)}) {
    EXPECT_THAT(Answer(&context, {ImagePart(Url(PngThatSays(width, height)))}), HasSubstr("error"))
        << width << " x " << height;
  }
  EXPECT_LT(guest.most, 1U << 20);
  // So many that they may be there, and are not.
  EXPECT_THAT(Answer(&context, {ImagePart(Url(PngThatSays(1024, 1024)))}), HasSubstr("image 1"));
  EXPECT_LT(guest.most, 64U << 20);
  EXPECT_GT(guest.most, 3U << 20) << "what is decoded is charged";
}

TEST_F(LlamaMediaHostile, ThinStripsAreRefused) {
  EXPECT_THAT(Of(Url(Png(Picture(1, 300, 1)))), HasSubstr("200 times"));
  EXPECT_THAT(Of(Url(Png(Picture(1, 200, 1)))), Not(HasSubstr("error")));
  EXPECT_THAT(Of(Url(Png(Picture(1, 1, 1)))), Not(HasSubstr("error")));
}

TEST_F(LlamaMediaHostile, WhatIsNoDataIsNeverFetched) {
  for (const char* url : {"http://127.0.0.1/image.png", "file:///etc/passwd", "/etc/passwd",
                          "https://example.org/a.png", "", "DATA:image/png;base64,AAAA"}) {
    EXPECT_THAT(Of(url), HasSubstr("no URL is fetched")) << url;
  }
  EXPECT_THAT(Of("data:image/png,%89PNG"), HasSubstr("expected data:image/"));
  EXPECT_THAT(Of("data:text/html;base64,AAAA"), HasSubstr("expected data:image/"));
  EXPECT_THAT(Of("data:"), HasSubstr("expected data:image/"));
  EXPECT_THAT(Of("data:image/png;base64,"), HasSubstr("image 1"));
  for (const char* nonsense : {"====", "A", "AAA*", "AA AA", "\xc3\xa9", "AAAA=AAA"}) {
    EXPECT_THAT(Of(std::string("data:image/png;base64,") + nonsense), HasSubstr("image 1: ")) << nonsense;
  }
}

TEST_F(LlamaMediaHostile, PartsOfAnotherFormAreRefused) {
  ASSERT_TRUE(SetOptions(&context_, R"({"chat": true})"));
  for (const char* content :
       {R"([{"type": "image_url"}])", R"([{"type": "image_url", "image_url": {}}])",
        R"([{"type": "image_url", "image_url": 7}])", R"([{"type": "image_url", "image_url": {"url": null}}])",
        R"([{"type": "input_audio", "input_audio": {}}])",
        R"([{"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AAAA"}}])"}) {
    ASSERT_TRUE(SetPrompt(&context_, std::string(R"([{"role": "user", "content": )") + content + "}]"));
    EXPECT_THAT(Complete(&context_), HasSubstr(CodeOf(WASINN_INVALID_ARGUMENT))) << content;
  }
  for (const char* messages :
       {R"({"image_url": 1})", R"(["image_url)", R"([{"content": "image_url)", R"("image_url")"}) {
    ASSERT_TRUE(SetPrompt(&context_, messages));
    EXPECT_THAT(Complete(&context_), HasSubstr("JSON array of messages")) << messages;
  }
  // A string that looks like one that was put aside, and long ones that are no images.
  const std::string text =
      Answer(&context_, {TextPart("data:#0"), TextPart("image_url" + std::string(1500, 'a') + "\"\\\n")});
  EXPECT_THAT(text, HasSubstr(CodeOf(WASINN_PROMPT_TOO_LONG)));
  EXPECT_THAT(Answer(&context_, {TextPart("data:#0 image_url"), ImagePart(Url(Png(Picture(8, 8, 1))))}),
              Not(HasSubstr("error")));
}

TEST_F(LlamaMediaHostile, SoundsNeedAProjectorThatHears) {
  EXPECT_THAT(Answer(&context_, {SoundPart(Wav(16000, Tone(16000, 0.1)))}),
              HasSubstr(CodeOf(WASINN_UNSUPPORTED_OPERATION) + "the model's projector takes no sounds"));
}

TEST_F(LlamaMediaHostile, TemplatesThatLoseOrRepeatAnImageAreRefused) {
  for (const char* text : {"{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}", "{{ 'nothing' }}"}) {
    const FileModel model(host_, TinyMediaOptions("see.gguf", {{"chat-template", text}}));
    ASSERT_TRUE(model.loaded());
    Context context(model);
    EXPECT_THAT(Answer(&context, {ImagePart(Url(Png(Picture(8, 8, 1)))), TextPart("b")}),
                HasSubstr("the chat template writes"))
        << text;
  }
}

TEST_F(LlamaMediaHostile, WhatIsHeldIsChargedAndLimited) {
  Account guest;
  {
    Context context(model_, 0, "{}", &guest);
    EXPECT_EQ(Answer(&context, {ImagePart(Url(Png(Picture(32, 32, 1))))}), honest_);
    const uint64_t held = guest.used;
    ASSERT_TRUE(SetPrompt(&context, "x"));
    EXPECT_LT(guest.used, held) << "the image goes with its prompt";
    guest.limit = guest.used + (1 << 20);
    EXPECT_THAT(Answer(&context, {ImagePart(Url(Png(Picture(2000, 2000, 1))))}), HasSubstr(CodeOf(WASINN_TOO_LARGE)));
    guest.limit = UINT64_MAX;
    EXPECT_EQ(Answer(&context, {ImagePart(Url(Png(Picture(32, 32, 1))))}), honest_);
  }
  EXPECT_EQ(guest.used, 0U);
}

TEST_F(LlamaMediaHostile, ManyImagesDoNotFit) {
  const json image = ImagePart(Url(Png(Picture(8, 8, 1))));
  EXPECT_THAT(Answer(&context_, std::vector<json>(65, image)), HasSubstr("at most 64 images"));
  EXPECT_THAT(Answer(&context_, std::vector<json>(40, image)), HasSubstr(CodeOf(WASINN_PROMPT_TOO_LONG)));
}

TEST_F(LlamaMediaHostile, ACancelEndsIt) {
  const std::vector<json> parts(16, ImagePart(Url(Png(Picture(512, 512, 1)))));
  ASSERT_TRUE(SetOptions(&context_, R"({"chat": true})"));
  ASSERT_TRUE(SetPrompt(&context_, Messages(parts)));
  std::atomic<bool> done = false;
  std::thread canceller([&] {
    while (!done) context_.Cancel();
  });
  const Result computed = context_.Compute();
  done = true;
  canceller.join();
  EXPECT_EQ(computed.code, WASINN_TIMEOUT) << computed.message;
}

TEST_F(LlamaMediaHostile, WhatNeedsTextAloneSaysSo) {
  const json image = ImagePart(Url(Png(Picture(8, 8, 1))));
  EXPECT_THAT(Answer(&context_, {image}, {{"chat", true}, {"tokenize", true}}), HasSubstr("without images"));
  EXPECT_THAT(Answer(&context_, {image}, {{"chat", true}, {"embedding", true}}), HasSubstr("without images"));
  EXPECT_THAT(Answer(&context_, {image}, {{"chat", true}, {"decode", true}}),
              HasSubstr(CodeOf(WASINN_UNSUPPORTED_OPERATION) + "tokenize, embedding, decode: expected a text"));
  EXPECT_THAT(Answer(&context_, {image}, {{"chat", true}, {"context-shift", true}}), HasSubstr("cannot lose a part"));
  EXPECT_THAT(Answer(&context_, {image}, {{"chat", true}, {"image", "/etc/passwd"}}), HasSubstr("no file is opened"));
}

TEST(LlamaMediaHostileLimits, ImagesThatAreSeenWholeNeedABatchOfThatSize) {
  const Host host;
  for (const int parallel : {0, 2}) {
    const FileModel model(host, TinyMediaOptions("see_whole.gguf", {{"ubatch-size", 3}, {"parallel", parallel}}));
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
    Context context(model);
    EXPECT_THAT(Answer(&context, {ImagePart(DataUrl("image/png", Png(Picture(8, 8, 1))))}),
                HasSubstr("an image of 4 tokens"));
  }
}

TEST(LlamaMediaHostileSound, BrokenOnesAreRefused) {
  const Host host;
  const FileModel model(host, TinyMediaOptions("hear.gguf"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  const auto of = [&](const std::string& file) { return Answer(&context, {SoundPart(file)}); };
  const std::string wav = Wav(16000, Tone(16000, 0.5)), honest = of(wav);
  ASSERT_THAT(honest, Not(HasSubstr("error")));
  for (const std::string& file :
       {std::string(), std::string("RIFF"), wav.substr(0, 30), wav.substr(0, 44), wav.substr(0, 48),
        Png(Picture(8, 8, 1)), std::string("fLaC"), std::string("ID3\x04\x00\x00\x7f\x7f\x7f\x7f", 10),
        Wav(16000, {0.5F}), Wav(0, Tone(16000, 0.1)), Wav(0xffffffff, Tone(16000, 0.1))}) {
    EXPECT_THAT(of(file), HasSubstr("sound 1: ")) << file.size();
  }
  // No numbers, and very large ones.
  EXPECT_THAT(of(Wav(16000, std::vector<float>(3200, std::numeric_limits<float>::quiet_NaN()))), HasSubstr("error"));
  of(Wav(16000, std::vector<float>(3200, 1e30F)));
  uint32_t random = 1;
  for (int i = 0; i < 16; ++i) {
    std::string broken = wav;
    random = random * 1664525 + 1013904223;
    broken[random % 60] ^= static_cast<char>(1 << (random >> 28 & 7));
    of(broken);
  }
  EXPECT_EQ(of(wav), honest);
}

}  // namespace
}  // namespace wasinn::test
