# How every folder of Pawl becomes a target.

find_program(PAWL_CCACHE ccache)
if(PAWL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PAWL_CCACHE})
endif()

# What every target of ours is compiled with. Linked privately, so that it does not reach those who use the library.
add_library(pawl_flags INTERFACE)
target_compile_features(pawl_flags INTERFACE cxx_std_20)
target_compile_options(pawl_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wcast-align -Wimplicit-fallthrough -Wno-missing-field-initializers -fno-omit-frame-pointer)
if(PAWL_UNITY)
  # One compilation for each target: headers are read once, in a third of the time. What these warnings say of so large a
  # source is often wrong; `edit`, which compiles file by file, has them.
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
  target_compile_options(pawl_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-shadow>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-maybe-uninitialized>)
endif()
if(PAWL_MUTANTS)
  target_compile_definitions(pawl_flags INTERFACE PAWL_MUTANTS)
endif()
if(PAWL_SANITIZE)
  target_compile_options(pawl_flags INTERFACE -fsanitize=${PAWL_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(pawl_flags INTERFACE -fsanitize=${PAWL_SANITIZE})
  if(PAWL_SANITIZE MATCHES undefined)
    # Half of what GCC needs to compile goes into these two. AddressSanitizer ends a program that follows a null pointer;
    # what is not aligned is left to the fuzz targets, which Clang compiles with both.
    target_compile_options(pawl_flags INTERFACE -fno-sanitize=null,alignment)
  endif()
endif()

# pawl_library(NAME SOURCES … HEADERS … LINKS …): one folder, one static library. Every header is compiled alone.
function(pawl_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;PUBLIC_HEADERS;LINKS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${arg_HEADERS})
  if(arg_PUBLIC_HEADERS)
    target_sources(${name} PUBLIC FILE_SET public_headers TYPE HEADERS
      BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${arg_PUBLIC_HEADERS})
  endif()
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC ${arg_LINKS} PRIVATE $<BUILD_INTERFACE:pawl_flags>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# pawl_program(NAME SOURCES … LINKS …): a program that tests run.
function(pawl_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} pawl_flags)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})  # tests/…
  target_compile_definitions(${name} PRIVATE PAWL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endfunction()

# pawl_test_support(NAME SOURCES … LINKS …): what several test programs share, compiled once.
function(pawl_test_support name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  if(PAWL_TESTS)
    add_library(${name} STATIC ${arg_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${arg_LINKS} PRIVATE pawl_flags)
  endif()
endfunction()

# pawl_test(NAME SOURCES … LINKS …): a program of GoogleTest, one test of ctest. What fails is named in its output; starting
# the program once for each TEST would take longer than the tests.
function(pawl_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  if(PAWL_TESTS)
    pawl_program(${name} SOURCES ${arg_SOURCES} LINKS ${arg_LINKS} GTest::gtest_main)
    target_compile_options(${name} PRIVATE -O0)  # half the time to compile; the time to run goes into the libraries
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  endif()
endfunction()
