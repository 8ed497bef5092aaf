# ST_REQUIRE_FLAGS(FLAGS, OPTION)
# -------------------------------
# Ends configure when the compiler can't build and link a program with FLAGS,
# which OPTION of configure asked for.
AC_DEFUN([ST_REQUIRE_FLAGS],
[AC_MSG_CHECKING([whether $CC takes $1])
st_saved_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS $1"
AC_LINK_IFELSE([AC_LANG_PROGRAM()],
	[AC_MSG_RESULT([yes])],
	[AC_MSG_RESULT([no])
	AC_MSG_ERROR([$2 needs a compiler that takes $1 (config.log says more)])])
CFLAGS=$st_saved_CFLAGS
])

# ST_TEST_LIBRARY(PREFIX, MODULE)
# -------------------------------
# Looks for a library that only the tests use. One that is missing goes to
# test_libs_missing: the program builds all the same, `make check` names it.
AC_DEFUN([ST_TEST_LIBRARY],
[PKG_CHECK_MODULES([$1], [$2], [], [test_libs_missing="$test_libs_missing $2"])
])
