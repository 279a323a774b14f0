// Images and sounds of an attacker, and what they may take.
#include "backends/expect.h"
#include "backends/llama_media.h"
#include "backends/media_attacks.h"

namespace wasinn::test {
namespace {

class LlamaMediaHostile : public ::testing::Test {
 protected:
  void SetUp() override {
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
  const std::string wrong = CodeOf(WASINN_ERROR_INVALID_ARGUMENT) + "the prompt: image 1: ";
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

// A file of 32 x 32 pixels, with a picture of 14000 x 14000 in it: a still one, and the first of an animation.
TEST_F(LlamaMediaHostile, PicturesLargerThanTheirFilesAreNotDecoded) {
  const std::string small = WebpCanvas(32, 32, false), moving = WebpCanvas(32, 32, true);
  const std::string picture = WebpChunk("VP8 ", Vp8Zeros(14000, 14000));
  const std::string place = std::string(6, '\0') + "\x1f" + std::string(2, '\0') + "\x1f" + std::string(6, '\0');
  const std::string alpha = WebpChunk("ALPH", std::string(1025, '\0'));
  const std::string first = WebpChunk("ANIM", std::string(6, '\0'));
  Account guest;
  Context context(model_, 0, "{}", &guest);
  for (const std::string& file : {Webp(small + picture), Webp(moving + first + WebpChunk("ANMF", place + picture)),
                                  Webp(moving + first + WebpChunk("ANMF", place + alpha + picture))}) {
    EXPECT_THAT(Answer(&context, {ImagePart(DataUrl("image/webp", file))}), HasSubstr("more than its 32 x 32 pixels"));
  }
  EXPECT_THAT(Of(DataUrl("image/webp", Webp(WebpChunk("VP8 ", Vp8Zeros(40, 30))))), Not(HasSubstr("error")));
  EXPECT_THAT(Of(DataUrl("image/webp", Webp(small + WebpChunk("VP8 ", Vp8Zeros(32, 32))))), Not(HasSubstr("error")));
}

// 16 x 16 pixels, for which a decoder makes 5,000 tables of 4 KiB for each code.
TEST_F(LlamaMediaHostile, TablesOfADecoderAreCharged) {
  const std::string file = DataUrl("image/webp", WebpOfTables(5000));
  Account guest;
  Context context(model_, 0, "{}", &guest);
  EXPECT_THAT(Answer(&context, {ImagePart(file)}), Not(HasSubstr("error")));
  EXPECT_GT(guest.most, 90U << 20);
  guest.limit = guest.used + (40U << 20);
  EXPECT_THAT(Answer(&context, {ImagePart(file)}), HasSubstr(CodeOf(WASINN_ERROR_TOO_LARGE)));
}

TEST_F(LlamaMediaHostile, ThinStripsAreRefused) {
  EXPECT_THAT(Of(Url(Png(Picture(1, 300, 1)))), HasSubstr("200 times"));
  EXPECT_THAT(Of(Url(Png(Picture(1, 200, 1)))), Not(HasSubstr("error")));
  EXPECT_THAT(Of(Url(Png(Picture(1, 1, 1)))), Not(HasSubstr("error")));
}

TEST_F(LlamaMediaHostile, UrlsAreNeverFetched) {
  for (const char* url : {"http://127.0.0.1/image.png", "file:///etc/passwd", "/etc/passwd",
                          "https://example.org/a.png", "", "DATA:image/png;base64,AAAA"}) {
    EXPECT_THAT(Of(url), HasSubstr("nothing is fetched")) << url;
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
    EXPECT_THAT(Complete(&context_, std::string(R"([{"role": "user", "content": )") + content + "}]"),
                HasSubstr(CodeOf(WASINN_ERROR_INVALID_ARGUMENT)))
        << content;
  }
  for (const char* messages :
       {R"({"image_url": 1})", R"(["image_url)", R"([{"content": "image_url)", R"("image_url")"}) {
    EXPECT_THAT(Complete(&context_, messages), HasSubstr("JSON array of messages")) << messages;
  }
  // A string that looks like one that was put aside, and long ones that are no images.
  const std::string text =
      Answer(&context_, {TextPart("data:#0"), TextPart("image_url" + std::string(1500, 'a') + "\"\\\n")});
  EXPECT_THAT(text, HasSubstr(CodeOf(WASINN_ERROR_PROMPT_TOO_LONG)));
  EXPECT_THAT(Answer(&context_, {TextPart("data:#0 image_url"), ImagePart(Url(Png(Picture(8, 8, 1))))}),
              Not(HasSubstr("error")));
}

// A text of 15 bytes, "data:#0" for a parser, must not stand for what was put aside.
TEST_F(LlamaMediaHostile, ShortTextsDoNotExpandToLongOnes) {
  ASSERT_TRUE(SetOptions(&context_, R"({"chat": true})"));
  const std::string text = R"({"type": "text", "text": "\u0064ata:#0"})",
                    image = ImagePart(Url(Png(Picture(8, 8, 1)))).dump();
  const std::string answer =
      Complete(&context_, R"([{"role": "user", "content": [)" + image + "," + text + "," + text + "]}]");
  EXPECT_THAT(answer, Not(HasSubstr("error")));
  EXPECT_EQ(answer,
            Answer(&context_, {ImagePart(Url(Png(Picture(8, 8, 1)))), TextPart("data:#0"), TextPart("data:#0")}));
}

TEST_F(LlamaMediaHostile, SoundsNeedAProjectorThatHears) {
  EXPECT_THAT(Answer(&context_, {SoundPart(Wav(16000, Tone(16000, 0.1)))}),
              HasSubstr(CodeOf(WASINN_ERROR_UNSUPPORTED_OPERATION) + "the model's projector accepts no sounds"));
}

TEST_F(LlamaMediaHostile, TemplatesThatLoseOrRepeatAnImageAreRefused) {
  for (const char* text : {"{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}", "{{ 'nothing' }}"}) {
    const FileModel model(host_, TinyMediaOptions("see.gguf", {{"chat-template", text}}));
    Context context(model);
    EXPECT_THAT(Answer(&context, {ImagePart(Url(Png(Picture(8, 8, 1)))), TextPart("b")}),
                HasSubstr("the chat template writes"))
        << text;
  }
}

TEST_F(LlamaMediaHostile, MemoryIsChargedAndLimited) {
  Account guest;
  {
    Context context(model_, 0, "{}", &guest);
    EXPECT_EQ(Answer(&context, {ImagePart(Url(Png(Picture(32, 32, 1))))}), honest_);
    const uint64_t held = guest.used;
    ASSERT_TRUE(SetPrompt(&context, "x"));
    EXPECT_LT(guest.used, held) << "the image goes with its prompt";
    guest.limit = guest.used + (1 << 20);
    EXPECT_THAT(Answer(&context, {ImagePart(Url(Png(Picture(2000, 2000, 1))))}),
                HasSubstr(CodeOf(WASINN_ERROR_TOO_LARGE)));
    guest.limit = UINT64_MAX;
    EXPECT_EQ(Answer(&context, {ImagePart(Url(Png(Picture(32, 32, 1))))}), honest_);
  }
  EXPECT_EQ(guest.used, 0U);
}

// There is no deadline while an output is read.
TEST_F(LlamaMediaHostile, NothingIsDecodedOutsideOfACompute) {
  Account guest;
  Context context(model_, 0, "{}", &guest);
  for (const std::string& prompt : {Messages({ImagePart(Url(Png(Picture(1000, 1000, 1))))}),
                                    R"(<img src=")" + Url(Png(Picture(1000, 1000, 1))) + R"(">)"}) {
    ASSERT_TRUE(SetOptions(&context, prompt.front() == '[' ? R"({"chat": true})" : "{}"));
    ASSERT_TRUE(SetPrompt(&context, prompt));
    guest.most = guest.used.load();
    const uint64_t before = guest.used;
    EXPECT_EQ(Metadata(&context)["input_tokens"], 0);
    EXPECT_LT(guest.most, before + (1U << 20));
    EXPECT_THAT(Complete(&context), Not(HasSubstr("error")));
    EXPECT_GT(Metadata(&context)["input_tokens"], 4);
  }
}

TEST_F(LlamaMediaHostile, ManyImagesDoNotFit) {
  const json image = ImagePart(Url(Png(Picture(8, 8, 1))));
  EXPECT_THAT(Answer(&context_, std::vector<json>(65, image)), HasSubstr("at most 64 images"));
  EXPECT_THAT(Answer(&context_, std::vector<json>(40, image)), HasSubstr(CodeOf(WASINN_ERROR_PROMPT_TOO_LONG)));
}

TEST_F(LlamaMediaHostile, ACancelEndsACompute) {
  const std::vector<json> parts(16, ImagePart(Url(Png(Picture(512, 512, 1)))));
  ASSERT_TRUE(SetOptions(&context_, R"({"chat": true})"));
  ASSERT_TRUE(SetPrompt(&context_, Messages(parts)));
  ComputeUntilCancelled(&context_);
}

TEST_F(LlamaMediaHostile, KeysForTextRefuseMedia) {
  const json image = ImagePart(Url(Png(Picture(8, 8, 1))));
  EXPECT_THAT(Answer(&context_, {image}, {{"chat", true}, {"tokenize", true}}), HasSubstr("without images"));
  EXPECT_THAT(Answer(&context_, {image}, {{"chat", true}, {"embedding", true}}), HasSubstr("without images"));
  EXPECT_THAT(Answer(&context_, {image}, {{"chat", true}, {"decode", true}}),
              HasSubstr(CodeOf(WASINN_ERROR_UNSUPPORTED_OPERATION) + "tokenize, embedding, decode: expected a text"));
  EXPECT_THAT(Answer(&context_, {image}, {{"chat", true}, {"context-shift", true}}), HasSubstr("can be discarded"));
  EXPECT_THAT(Answer(&context_, {image}, {{"chat", true}, {"image", "/etc/passwd"}}), HasSubstr("no file is opened"));
}

TEST(LlamaMediaHostileLimits, ImagesEvaluatedAtOnceNeedALargeBatch) {
  const Host host;
  for (const int parallel : {0, 2}) {
    const FileModel model(host, TinyMediaOptions("see_whole.gguf", {{"ubatch-size", 3}, {"parallel", parallel}}));
    Context context(model);
    EXPECT_THAT(Answer(&context, {ImagePart(DataUrl("image/png", Png(Picture(8, 8, 1))))}),
                HasSubstr("an image of 4 tokens"));
  }
}

class LlamaMediaHostileSound : public ::testing::Test {
 protected:
  std::string Of(const std::string& file) { return Answer(&context_, {SoundPart(file)}); }

  const Host host_;
  const FileModel model_{host_, TinyMediaOptions("hear.gguf")};
  Context context_{model_};
};

TEST_F(LlamaMediaHostileSound, BrokenFilesAreRefused) {
  const std::string wav = Wav(16000, Tone(16000, 0.5)), honest = Of(wav);
  ASSERT_THAT(honest, Not(HasSubstr("error")));
  for (const std::string& file :
       {std::string(), std::string("RIFF"), wav.substr(0, 30), wav.substr(0, 44), wav.substr(0, 48),
        Png(Picture(8, 8, 1)), std::string("fLaC"), std::string("ID3\x04\x00\x00\x7f\x7f\x7f\x7f", 10),
        Wav(16000, {0.5F}), Wav(0, Tone(16000, 0.1)), Wav(0xffffffff, Tone(16000, 0.1))}) {
    EXPECT_THAT(Of(file), HasSubstr("sound 1: ")) << file.size();
  }
  // No numbers, and very large ones.
  EXPECT_THAT(Of(Wav(16000, std::vector<float>(3200, std::numeric_limits<float>::quiet_NaN()))), HasSubstr("error"));
  Of(Wav(16000, std::vector<float>(3200, 1e30F)));
  uint32_t random = 1;
  for (int i = 0; i < 8; ++i) {
    std::string broken = wav;
    random = random * 1664525 + 1013904223;
    broken[random % 60] ^= static_cast<char>(1 << (random >> 28 & 7));
    Of(broken);
  }
  EXPECT_EQ(Of(wav), honest);
}

// Other parts of a sound file are not read: here lengths of 4 GB, for which there may be no memory.
TEST_F(LlamaMediaHostileSound, TitlesAndPicturesAreNotRead) {
  const std::string huge(4, '\xff'), zeros(16, '\0');
  const std::string title = zeros.substr(0, 4) + std::string("\1\0\0\0", 4) + huge,
                    picture = zeros.substr(0, 12) + zeros + huge;
  const std::string flac = Of(Flac(16000, 100, ""));
  EXPECT_THAT(flac, Not(HasSubstr("error")));
  EXPECT_EQ(Of(Flac(16000, 100, FlacBlock(4, title) + FlacBlock(6, picture + zeros))), flac);
  const std::string wav = Wav(16000, Tone(16000, 0.5)), honest = Of(wav);
  EXPECT_EQ(Of(std::string("ID3\4\0\0\0\0\0\4", 10) + "TIT2" + wav), honest);
  std::string listed = wav;
  listed.insert(36, std::string("LIST\x0c\0\0\0INFOIART\xff\xff\xff\xf0", 20));
  EXPECT_EQ(Of(listed), honest);
}

// A sample of a second long would become 16,000 of them, and some 65 million for a part of a sound.
TEST_F(LlamaMediaHostileSound, LowSampleRatesAreRefused) {
  for (const uint32_t rate : {1U, 16U, 999U}) {
    EXPECT_THAT(Of(Wav(rate, Tone(rate, 2))), HasSubstr("expected 1000 to 192000")) << rate;
  }
  EXPECT_THAT(Of(Wav(1000, Tone(1000, 0.5))), Not(HasSubstr("error")));
}

}  // namespace
}  // namespace wasinn::test
