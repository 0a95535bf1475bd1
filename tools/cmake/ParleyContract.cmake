# For people who write a transport: `cmake --install build --component transport_contract` lays down the contract, the
# suite that tests it, and the in-process transport as an example, all as sources. find_package(parley COMPONENTS
# transport_contract) then makes targets of them; README.md there says what is stable.
set(parley_contract_dir "${CMAKE_INSTALL_DATADIR}/parley/transport_contract")

# parley_install_sources(FOLDER FILE...)
function(parley_install_sources folder)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/${folder}/")
  install(FILES ${ARGN} DESTINATION "${parley_contract_dir}/${folder}" COMPONENT transport_contract EXCLUDE_FROM_ALL)
endfunction()

parley_install_sources(transport/base copy_meter.h deadline.h doorbell.h log.h memory_ref.h parker.cc parker.h status.cc status.h unique_fd.h)
parley_install_sources(transport/interface completion.h endpoint.h mover.h neighbour.h offer_ledger.h packet.h sink.h transport.h)
parley_install_sources(transport/inproc device_offers.cc device_offers.h inproc_endpoint.cc inproc_endpoint.h inproc_hub.cc
  inproc_hub.h inproc_lane.cc inproc_lane.h inproc_transport.cc inproc_transport.h)
parley_install_sources(tests/contract/transport checked_link.cc checked_link.h closing_contract.cc content.h
  delivery_contract.cc inproc_world.h link_contract.cc party.cc party.h transport_contract.cc transport_contract.h
  transport_world.h)
install(FILES "${PROJECT_SOURCE_DIR}/tests/contract/transport/INSTALLED.md" DESTINATION "${parley_contract_dir}"
  RENAME README.md COMPONENT transport_contract EXCLUDE_FROM_ALL)

configure_file("${CMAKE_CURRENT_LIST_DIR}/parleyTransportContract.cmake.in"
  "${PROJECT_BINARY_DIR}/package/parleyTransportContract.cmake" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/parleyTransportContract.cmake" DESTINATION "${parley_package_dir}"
  COMPONENT transport_contract EXCLUDE_FROM_ALL)
