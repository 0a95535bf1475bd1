# What `cmake --install` lays down: the library, its public headers, its programs, and what find_package(parley) and
# pkg-config read. Nothing in it names an absolute path, so the installed tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(parley_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/parley")

install(TARGETS parley EXPORT parley_targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES ${parley_public_headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/parley")
if(TARGET parley-bench)
  set_target_properties(parley-bench PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS parley-bench RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# find_package(parley). A static library hands its private dependencies on to whoever links it; a shared one does not.
get_target_property(parley_type parley TYPE)
set(parley_find_dependencies "")
set(parley_pc_requires "")
if(parley_type STREQUAL "STATIC_LIBRARY")
  set(parley_find_dependencies "set(THREADS_PREFER_PTHREAD_FLAG ON)\nfind_dependency(Threads)\n")
  if(PARLEY_WITH_OPENSSL)
    string(APPEND parley_find_dependencies "find_dependency(OpenSSL)\n")
    set(parley_pc_requires "libssl libcrypto")
  endif()
endif()
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/parleyConfig.cmake.in" "${PROJECT_BINARY_DIR}/package/parleyConfig.cmake"
  INSTALL_DESTINATION "${parley_package_dir}"
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may break the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/parleyConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/parleyConfig.cmake"
              "${PROJECT_BINARY_DIR}/package/parleyConfigVersion.cmake"
  DESTINATION "${parley_package_dir}")
install(EXPORT parley_targets NAMESPACE parley:: FILE parleyTargets.cmake DESTINATION "${parley_package_dir}")

# pkg-config finds the prefix from the place of the .pc file.
set(parley_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH parley_prefix_from_pc "/prefix/${parley_pc_dir}" "/prefix")
string(REGEX REPLACE "/$" "" parley_prefix_from_pc "${parley_prefix_from_pc}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/parley.pc.in" "${PROJECT_BINARY_DIR}/package/parley.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/parley.pc" DESTINATION "${parley_pc_dir}")

include(ParleyContract)
