/* The functions of the crate `media`: images and sounds of strangers, decoded into memory of the caller's. They return the status of a call
 * (wasinn_llama_common.h), and write to `error` what is wrong.
 */
#ifndef WASINN_MEDIA_H_
#define WASINN_MEDIA_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wasinn_media_text {
  size_t size;
  char* bytes;
} wasinn_media_text;

/* Asked where more is held, or will be, and with 0 now and then: whether to go on. */
typedef struct wasinn_media_leave {
  int (*ask)(void* user, uint64_t bytes);
  void* user;
} wasinn_media_leave;

/* `file`: room for three bytes for each four of the text, and three more. */
int wasinn_media_base64(const char* text, size_t size, uint8_t* file, size_t* file_size, wasinn_media_text* error);
void wasinn_media_sha256(const uint8_t* data, size_t size, uint8_t* digest);

int wasinn_media_image_size(const uint8_t* data, size_t size, uint32_t* width, uint32_t* height,
                            wasinn_media_leave leave, wasinn_media_text* error);
/* `pixels`: three bytes for each. */
int wasinn_media_image_pixels(const uint8_t* data, size_t size, uint8_t* pixels, size_t pixels_size,
                              wasinn_media_leave leave, wasinn_media_text* error);

typedef struct wasinn_media_sound_samples {
  float* samples;
  size_t count;
} wasinn_media_sound_samples;
int wasinn_media_sound(const uint8_t* data, size_t size, uint32_t rate, wasinn_media_leave leave,
                       wasinn_media_sound_samples* sound, wasinn_media_text* error);
void wasinn_media_sound_free(wasinn_media_sound_samples* sound);

#ifdef __cplusplus
}
#endif

#endif /* WASINN_MEDIA_H_ */
