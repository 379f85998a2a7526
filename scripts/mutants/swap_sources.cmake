# Compiles ${PAWL_MUTATED}/DIR/FILE in place of DIR/FILE wherever it exists; project() includes this.

function(pawl_swap_sources)
  file(GLOB_RECURSE files RELATIVE ${PAWL_MUTATED} ${PAWL_MUTATED}/*.cc)
  foreach(file IN LISTS files)
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET file FILENAME name)
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(sources ${target} SOURCES)
      if(name IN_LIST sources)
        list(TRANSFORM sources REPLACE "^${name}$" ${PAWL_MUTATED}/${file})
        set_target_properties(${target} PROPERTIES SOURCES "${sources}")
        set_source_files_properties(${PAWL_MUTATED}/${file} TARGET_DIRECTORY ${target}
          PROPERTIES COMPILE_OPTIONS "-w;-include;${CMAKE_CURRENT_FUNCTION_LIST_DIR}/pawl_mutant.h")
      endif()
    endforeach()
  endforeach()
endfunction()

cmake_language(DEFER CALL pawl_swap_sources) # when every target is there
