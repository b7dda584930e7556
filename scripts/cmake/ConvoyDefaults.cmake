# Compiler settings that every target shares, and the two helpers that declare libraries and tests.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Assertions stay on in every build: an invariant that is checked only where nobody runs it is none.
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g -fno-omit-frame-pointer")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

set(CONVOY_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them")
add_compile_options(-march=x86-64-v3 -Wall -Wextra -Wpedantic -Wshadow -Wno-unused-parameter -Wno-missing-field-initializers -Werror)
# GCC 12 sees overlapping copies in `"text" + std::string` where there are none (its bug 105651).
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(CONVOY_SANITIZE)
  add_compile_options(-fsanitize=${CONVOY_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${CONVOY_SANITIZE})
  # GCC's dataflow warnings are unreliable under sanitizer instrumentation.
  add_compile_options(-Wno-maybe-uninitialized)
endif()

find_package(Threads REQUIRED)

# convoy_library(NAME SOURCES... LINK LIBS...): a static library whose includes start at the root.
function(convoy_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
endfunction()

# The tests labelled `threads`: those that ThreadSanitizer is for.
add_custom_target(threaded_tests)

# convoy_test(NAME "LABEL[;LABEL]" SOURCES... LINK LIBS...): one Boost.Test executable, one ctest entry.
function(convoy_test name label)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  find_package(Boost REQUIRED COMPONENTS unit_test_framework)
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE BOOST_TEST_DYN_LINK
                             CONVOY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINK} Boost::unit_test_framework)
  add_test(NAME ${name} COMMAND ${name} --color_output=no)
  set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT ${ARG_TIMEOUT})
  if("threads" IN_LIST label)
    add_dependencies(threaded_tests ${name})
    if(CONVOY_SANITIZE MATCHES "thread")
      set_tests_properties(${name} PROPERTIES ENVIRONMENT
                           "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/scripts/tsan.supp:halt_on_error=1:second_deadlock_stack=1")
    endif()
  endif()
endfunction()
